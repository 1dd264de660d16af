// SPDX-License-Identifier: Apache-2.0
// Grants, returns and adopts slabs of device memory.
#include "worker/memory/lease.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "hipcore/memory/device_flags.h"
#include "worker/base/log.h"
#include "worker/base/runtime_version.h"
#include "worker/memory/allocation_wish.h"
#include "worker/memory/memory_probe.h"

namespace tf::worker {
namespace {

#if defined(TF_THREAD_SANITIZER)
// The thread sanitizer ends a process that maps other addresses than these.
constexpr std::uint64_t kWindowBases[] = {0x10'0000'0000};
constexpr std::uint64_t kReservationBytes[] = {64ull << 30};
#else
// Where we ask for windows: free in every process that we know of (heap, libraries and stack of x86-64 Linux
// are far above, sanitizer shadows below), and apart from the windows of other runtimes.
constexpr std::uint64_t kWindowBases[] = {0x2000'0000'0000, 0x4000'0000'0000, 0x3000'0000'0000};
// The range for hipMemAddressReserve: the largest that the runtime gives. Programs reserve generously.
constexpr std::uint64_t kReservationBytes[] = {8ull << 40, 1ull << 40, 64ull << 30};
#endif
constexpr std::uint64_t kWindowBytesMin = 64ull << 30;
constexpr std::uint64_t kWindowBytesMax = 1ull << 40;
constexpr std::uint64_t kWindowPerMemory = 4;  // addresses per byte of memory, so that gaps do not matter
constexpr std::uint64_t kPlainGranularityBytes = 2ull << 20;

std::uint64_t window_bytes(const protocol::DeviceSnapshot& device) {
  const std::uint64_t wanted =
      std::min(device.total_memory, kWindowBytesMax / kWindowPerMemory) * kWindowPerMemory;
  return std::clamp(std::bit_ceil(wanted), kWindowBytesMin, kWindowBytesMax);
}

template <typename Reserve, typename Free>
bool reserve_at(Reserve reserve, Free free, std::uint64_t base, std::uint64_t bytes,
                std::uint64_t granularity) {
  void* address = nullptr;
  void* wanted = reinterpret_cast<void*>(base);
  if (reserve(&address, bytes, granularity, wanted, 0) != hipSuccess) return false;
  if (address == wanted) return true;
  static_cast<void>(free(address, bytes));
  return false;
}

bool reserve_window(const protocol::HipTable& hip, const VmmFunctions& vmm, int index,
                    protocol::DeviceSnapshot& device, std::uint64_t& taken) {
  const hipMemAllocationProp properties = allocation_wish(hip, index);
  std::size_t granularity = 0;
  if (vmm.granularity(&granularity, &properties, hipMemAllocationGranularityRecommended) != hipSuccess ||
      granularity == 0)
    return false;
  std::size_t smallest = 0;
  if (vmm.granularity(&smallest, &properties, hipMemAllocationGranularityMinimum) != hipSuccess ||
      smallest == 0)
    smallest = granularity;
  const std::uint64_t bytes = window_bytes(device);
  for (const std::uint64_t base : kWindowBases) {
    if (!reserve_at(vmm.address_reserve, vmm.address_free, base + taken, bytes, granularity)) continue;
    device.window = {base + taken, bytes};
    device.lease_granularity_bytes = granularity;
    device.map_granularity_bytes = smallest;
    taken += bytes;
    return true;
  }
  return false;
}

void reserve_for_client(const VmmFunctions& vmm, protocol::WorkerSnapshot& snapshot, std::uint64_t taken) {
  const std::uint64_t granularity = snapshot.devices[0].lease_granularity_bytes;
  for (const std::uint64_t bytes : kReservationBytes) {
    for (const std::uint64_t base : kWindowBases) {
      if (!reserve_at(vmm.range_reserve, vmm.range_free, base + taken, bytes, granularity)) continue;
      if (vmm.ranges_apart) static_cast<void>(vmm.range_free(reinterpret_cast<void*>(base + taken), bytes));
      snapshot.reservations = {base + taken, bytes};
      return;
    }
  }
}

void reserve_all(const protocol::HipTable& hip, const VmmFunctions& vmm, protocol::WorkerSnapshot& snapshot) {
  std::uint64_t taken = 0;
  for (std::size_t index = 0; index < snapshot.devices.size(); ++index) {
    const int device = static_cast<int>(index);
    const hipError_t error = hip.hipSetDevice(device);
    if (error == hipSuccess && reserve_window(hip, vmm, device, snapshot.devices[index], taken)) continue;
    for (protocol::DeviceSnapshot& done : snapshot.devices) {
      if (done.window.bytes == 0) continue;
      static_cast<void>(vmm.address_free(reinterpret_cast<void*>(done.window.base), done.window.bytes));
      done.window = {};
    }
    return;
  }
  if (snapshot.devices.empty()) return;
  snapshot.vmm_leases = 1;
  const std::uint64_t granularity = snapshot.devices[0].lease_granularity_bytes;
  const hipError_t error = hip.hipSetDevice(0);
  if (error == hipSuccess) {
    const MemoryAbilities can = probe_memory(hip, vmm, snapshot.devices[0].window.base, granularity);
    snapshot.memory_shared = can.shared ? 1 : 0;
    snapshot.device_access = can.mapped ? protocol::DeviceAccess::kMapped : protocol::DeviceAccess::kNone;
  }
  reserve_for_client(vmm, snapshot, taken);
}

}  // namespace

void reserve_windows(const protocol::HipTable& hip, const VmmFunctions& vmm,
                     protocol::WorkerSnapshot& snapshot) {
  snapshot.vmm_leases = 0;
  snapshot.memory_shared = 0;
  snapshot.device_access = protocol::DeviceAccess::kNone;
  snapshot.reservations = {};
  if (vmm.complete()) reserve_all(hip, vmm, snapshot);
  if (snapshot.vmm_leases != 0) return;
  for (protocol::DeviceSnapshot& device : snapshot.devices)
    device.lease_granularity_bytes = kPlainGranularityBytes;
}

bool has_fine_grained(const OptionalFunctions& optional) {
  const bool on_host = optional.runs_on_host != nullptr && optional.runs_on_host() != 0;
  return optional.malloc_with_flags != nullptr && !on_host;
}

Leases::~Leases() {
  for (const auto& [address, lease] : leases_)
    own_calls_.pass_on(free_lease(address, lease), nullptr, lease.device);
}

bool Leases::find_gap(const protocol::AddressWindow& window, std::uint64_t bytes,
                      std::uint64_t& address) const {
  // Walks the leases in the window in address order; the first gap that is large enough.
  std::uint64_t candidate = window.base;
  for (auto lease = leases_.lower_bound(window.base); lease != leases_.end(); ++lease) {
    if (lease->first >= window.base + window.bytes || lease->first - candidate >= bytes) break;
    candidate = lease->first + lease->second.bytes;
  }
  address = candidate;
  return window.base + window.bytes - candidate >= bytes;
}

hipError_t Leases::map_slab(int device, std::uint64_t address, Lease& lease) {
  const auto shared_as =
      snapshot_.memory_shared != 0 ? hipMemHandleTypePosixFileDescriptor : hipMemAllocationHandleType{};
  const hipMemAllocationProp properties = allocation_wish(hip_, device, shared_as);
  hipError_t error = vmm_.create(&lease.memory, lease.bytes, &properties, 0);
  if (error != hipSuccess) return error;
  error = map_memory(device, address, lease);
  if (error != hipSuccess) own_calls_.pass_on(vmm_.release(lease.memory), nullptr, device);
  return error;
}

hipError_t Leases::map_memory(int device, std::uint64_t address, const Lease& lease) {
  void* target = reinterpret_cast<void*>(address);
  hipError_t error = vmm_.map(target, lease.bytes, lease.offset, lease.memory, 0);
  if (error != hipSuccess) return error;
  // Every device that can reach the memory may use it; hipDeviceEnablePeerAccess decides whether it does.
  std::vector<hipMemAccessDesc> access;
  for (std::size_t other = 0; other < snapshot_.devices.size(); ++other) {
    const auto from = static_cast<int>(other);
    if (from != device && snapshot_.peer(other, static_cast<std::size_t>(device)).can_access == 0) continue;
    hipMemAccessDesc entry{};
    entry.location.type = hipMemLocationTypeDevice;
    entry.location.id = from;
    entry.flags = hipMemAccessFlagsProtReadWrite;
    access.push_back(entry);
  }
  error = vmm_.set_access(target, lease.bytes, access.data(), access.size());
  if (error != hipSuccess) own_calls_.pass_on(vmm_.unmap(target, lease.bytes), nullptr, device);
  return error;
}

hipError_t Leases::grant(int device, std::uint64_t bytes, unsigned flags, std::uint64_t& address,
                         std::uint64_t& granted) {
  if (device < 0 || static_cast<std::size_t>(device) >= snapshot_.devices.size())
    return hipErrorInvalidDevice;
  const protocol::DeviceSnapshot& facts = snapshot_.devices[static_cast<std::size_t>(device)];
  const std::uint64_t granularity = std::max<std::uint64_t>(facts.lease_granularity_bytes, 1);
  const bool known = flags == hipDeviceMallocDefault || flags == hipDeviceMallocFinegrained ||
                     flags == hipcore::kDeviceMallocUncached;
  if (bytes == 0 || !known) return hipErrorInvalidValue;
  if (flags != hipDeviceMallocDefault && malloc_with_flags_ == nullptr) return hipErrorNotSupported;
  if (bytes > facts.total_memory || leases_.size() >= kLeasesMax) return hipErrorOutOfMemory;
  Lease lease{.bytes = (bytes + granularity - 1) / granularity * granularity, .device = device};
  lease.allocated = snapshot_.vmm_leases == 0 || flags != hipDeviceMallocDefault;
  if (!quotas_.own.take(device, lease.bytes)) return hipErrorOutOfMemory;
  const hipError_t error = place(device, flags, address, lease);
  if (error == hipSuccess) granted = lease.bytes;
  if (error != hipSuccess) quotas_.own.give(device, lease.bytes);
  return error;
}

// Uncached memory is fine-grained memory to runtimes that do not know it.
hipError_t Leases::allocate(unsigned flags, std::uint64_t& address, const Lease& lease) {
  void* memory = nullptr;
  hipError_t error = flags == hipDeviceMallocDefault ? hip_.hipMalloc(&memory, lease.bytes)
                                                     : malloc_with_flags_(&memory, lease.bytes, flags);
  if (error == hipErrorInvalidValue && flags == hipcore::kDeviceMallocUncached)
    error = malloc_with_flags_(&memory, lease.bytes, hipDeviceMallocFinegrained);
  address = reinterpret_cast<std::uint64_t>(memory);
  return error;
}

hipError_t Leases::place(int device, unsigned flags, std::uint64_t& address, Lease& lease) {
  hipError_t error = hipSuccess;
  if (lease.allocated) {
    error = allocate(flags, address, lease);
  } else {
    const protocol::AddressWindow& window = snapshot_.devices[static_cast<std::size_t>(device)].window;
    if (!find_gap(window, lease.bytes, address)) return hipErrorOutOfMemory;
    error = map_slab(device, address, lease);
  }
  if (error != hipSuccess) return error;
  if (!addresses_.add(address, lease.bytes, device)) {
    own_calls_.pass_on(free_lease(address, lease), nullptr, lease.device);
    return hipErrorOutOfMemory;
  }
  leases_.emplace(address, lease);
  return hipSuccess;
}

hipError_t Leases::free_lease(std::uint64_t address, const Lease& lease) {
  void* memory = reinterpret_cast<void*>(address);
  if (lease.allocated) return lease.adopted ? hip_.hipIpcCloseMemHandle(memory) : hip_.hipFree(memory);
  const hipError_t unmapped = vmm_.unmap(memory, lease.bytes);
  const hipError_t released = vmm_.release(lease.memory);
  return unmapped != hipSuccess ? unmapped : released;
}

bool Leases::memory_at(std::uint64_t address, hipMemGenericAllocationHandle_t& memory) const {
  const auto found = leases_.find(address);
  if (found == leases_.end() || found->second.allocated || found->second.adopted) return false;
  memory = found->second.memory;
  return true;
}

int Leases::device_of(std::uint64_t address) const {
  auto found = leases_.find(address);
  return found == leases_.end() || found->second.adopted ? -1 : found->second.device;
}

bool Leases::find(std::uint64_t address, std::uint64_t bytes, std::uint64_t& lease,
                  hipMemGenericAllocationHandle_t& memory, SharedPiece& piece) const {
  auto found = leases_.upper_bound(address);
  if (found == leases_.begin()) return false;
  --found;
  const std::uint64_t first = address - found->first;
  const std::uint64_t whole = found->second.bytes;
  if (found->second.adopted || bytes == 0 || first >= whole || bytes > whole - first) return false;
  lease = found->first;
  memory = found->second.memory;
  const auto kind = found->second.allocated ? SharedPiece::Kind::kAllocation : SharedPiece::Kind::kLease;
  piece = {kind, found->second.device, whole, first, bytes};
  return true;
}

hipError_t Leases::place_adopted(const Lease& lease, std::uint64_t shown_bytes, std::uint64_t& address) {
  const protocol::DeviceSnapshot& facts = snapshot_.devices[static_cast<std::size_t>(lease.device)];
  std::uint64_t base = 0;
  if (!find_gap(facts.window, lease.bytes, base)) return hipErrorOutOfMemory;
  const hipError_t error = map_memory(lease.device, base, lease);
  if (error != hipSuccess) return error;
  if (!addresses_.add(base + lease.adopted_first, shown_bytes, lease.device)) {
    own_calls_.pass_on(vmm_.unmap(reinterpret_cast<void*>(base), lease.bytes));
    return hipErrorOutOfMemory;
  }
  leases_.emplace(base, lease);
  address = base + lease.adopted_first;
  return hipSuccess;
}

hipError_t Leases::adopt(hipMemGenericAllocationHandle_t memory, const SharedPiece& piece,
                         std::uint64_t& address) {
  const std::uint64_t unit =
      snapshot_.devices[static_cast<std::size_t>(piece.device)].lease_granularity_bytes;
  const bool room = leases_.size() < kLeasesMax && piece.whole_bytes % unit == 0 &&
                    quotas_.foreign.take(piece.device, piece.whole_bytes);
  if (!room) {
    own_calls_.pass_on(vmm_.release(memory));
    return hipErrorOutOfMemory;
  }
  // Only the piece, and no more of its owner's memory, if the runtime can map parts.
  const bool parts = vmm_.maps_parts;
  const std::uint64_t start = parts ? piece.first / unit * unit : 0;
  const std::uint64_t end = parts ? (piece.first + piece.bytes + unit - 1) / unit * unit : piece.whole_bytes;
  Lease lease{end - start, piece.device, memory, start, piece.first - start, piece.whole_bytes, true};
  hipError_t error = place_adopted(lease, piece.bytes, address);
  if (error != hipSuccess && lease.bytes != piece.whole_bytes) {
    lease = {piece.whole_bytes, piece.device, memory, 0, piece.first, piece.whole_bytes, true};
    error = place_adopted(lease, piece.bytes, address);
  }
  if (error != hipSuccess) {
    own_calls_.pass_on(vmm_.release(memory));
    quotas_.foreign.give(piece.device, piece.whole_bytes);
  }
  return error;
}

hipError_t Leases::adopt_allocation(const hipIpcMemHandle_t& ticket, const SharedPiece& piece, int opener,
                                    std::uint64_t& address) {
  const bool room = leases_.size() < kLeasesMax && quotas_.foreign.take(piece.device, piece.whole_bytes);
  if (!room) return hipErrorOutOfMemory;
  void* memory = nullptr;
  hipError_t error = hip_.hipIpcOpenMemHandle(&memory, ticket, ipc_open_flags(hip_));
  const auto base = reinterpret_cast<std::uint64_t>(memory);
  if (error == hipSuccess) {
    const Lease lease{piece.whole_bytes, piece.device, {},   0,     piece.first,
                      piece.whole_bytes, true,         true, opener};
    error = note_allocation(base, lease, piece.bytes);
    if (error != hipSuccess) own_calls_.pass_on(hip_.hipIpcCloseMemHandle(memory), nullptr, piece.device);
  }
  if (error != hipSuccess) quotas_.foreign.give(piece.device, piece.whole_bytes);
  address = base + piece.first;
  return error;
}

// The piece comes from the other session, the size from the runtime.
hipError_t Leases::note_allocation(std::uint64_t base, const Lease& lease, std::uint64_t shown_bytes) {
  hipDeviceptr_t start = nullptr;
  std::size_t bytes = 0;
  hipError_t error = hip_.hipMemGetAddressRange(&start, &bytes, reinterpret_cast<hipDeviceptr_t>(base));
  if (error != hipSuccess) return error;
  if (reinterpret_cast<std::uint64_t>(start) != base || bytes < lease.whole_bytes)
    return hipErrorInvalidDevicePointer;
  const bool added =
      !leases_.contains(base) && addresses_.add(base + lease.adopted_first, shown_bytes, lease.device);
  if (!added) return hipErrorOutOfMemory;
  leases_.emplace(base, lease);
  return hipSuccess;
}

int Leases::opener_of(std::uint64_t address) const {
  const auto next = leases_.upper_bound(address);
  if (next == leases_.begin()) return -1;
  const auto& [base, lease] = *std::prev(next);
  if (!lease.adopted || address - base != lease.adopted_first) return -1;
  return lease.allocated ? lease.opener : lease.device;
}

hipError_t Leases::drop(std::uint64_t address) {
  auto found = leases_.upper_bound(address);
  if (found == leases_.begin()) return hipErrorInvalidValue;
  --found;
  const Lease lease = found->second;
  const std::uint64_t base = found->first;
  if (!lease.adopted || address - base != lease.adopted_first) return hipErrorInvalidValue;
  leases_.erase(found);
  addresses_.remove(address);
  quotas_.foreign.give(lease.device, lease.whole_bytes);
  return free_lease(base, lease);
}

hipError_t Leases::give_back(std::uint64_t address) {
  auto found = leases_.find(address);
  if (found == leases_.end() || found->second.adopted) return hipErrorInvalidValue;
  const Lease lease = found->second;
  leases_.erase(found);
  addresses_.remove(address);
  quotas_.own.give(lease.device, lease.bytes);
  return free_lease(address, lease);
}

}  // namespace tf::worker
