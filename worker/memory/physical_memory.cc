// SPDX-License-Identifier: Apache-2.0
// Creates, maps and unmaps memory handles in the client's reserved range.
#include "worker/memory/physical_memory.h"

#include <iterator>

#include "hipcore/wire/extent.h"
#include "hipcore/wire/handle.h"
#include "worker/base/ranges.h"
#include "worker/memory/allocation_wish.h"
#include "worker/memory/pointer_to.h"

namespace tf::worker {
PhysicalMemory::~PhysicalMemory() {
  for (const auto& [address, mapping] : mappings_)
    own_calls_.pass_on(hip_.hipMemUnmap(pointer_to(address), mapping.bytes));
  for (const auto& [base, range] : ranges_)
    own_calls_.pass_on(vmm_.range_free(pointer_to(base), range.bytes));
  for (const auto& [raw, physical] : physical_) own_calls_.pass_on(hip_.hipMemRelease(physical.memory));
}

bool PhysicalMemory::reserved(std::uint64_t address, std::uint64_t bytes) const {
  const protocol::AddressWindow& window = snapshot_.reservations;
  return bytes != 0 && address >= window.base && address - window.base <= window.bytes &&
         bytes <= window.bytes - (address - window.base);
}

bool PhysicalMemory::is_mapped(std::uint64_t address, std::uint64_t bytes) const {
  return protocol::is_tiled(mappings_, address, bytes);
}

hipError_t PhysicalMemory::check_new(std::uint64_t raw, int device) const {
  if (device < 0 || static_cast<std::size_t>(device) >= snapshot_.devices.size())
    return hipErrorInvalidDevice;
  if (protocol::Handle(raw).kind() != protocol::HandleKind::kMemAllocation || physical_.contains(raw))
    return hipErrorInvalidHandle;
  return physical_.size() >= kPhysicalMax ? hipErrorOutOfMemory : hipSuccess;
}

hipError_t PhysicalMemory::create(std::uint64_t raw, int device, std::uint64_t bytes,
                                  hipMemAllocationHandleType shared_as) {
  if (const hipError_t error = check_new(raw, device); error != hipSuccess) return error;
  if (!quotas_.own.take(device, bytes)) return hipErrorOutOfMemory;
  Physical physical{{}, bytes, device, 0, false};
  const hipMemAllocationProp properties = allocation_wish(hip_, device, shared_as);
  const hipError_t error = hip_.hipMemCreate(&physical.memory, bytes, &properties, 0);
  if (error == hipSuccess)
    physical_.emplace(raw, physical);
  else
    quotas_.own.give(device, bytes);
  return error;
}

hipError_t PhysicalMemory::adopt(std::uint64_t raw, hipMemGenericAllocationHandle_t memory,
                                 const SharedPiece& piece) {
  hipError_t error = check_new(raw, piece.device);
  if (error == hipSuccess && !quotas_.foreign.take(piece.device, piece.whole_bytes))
    error = hipErrorOutOfMemory;
  if (error == hipSuccess)
    physical_.emplace(raw, Physical{memory, piece.whole_bytes, piece.device, 0, true});
  else
    own_calls_.pass_on(hip_.hipMemRelease(memory));
  return error;
}

bool PhysicalMemory::find(std::uint64_t raw, hipMemGenericAllocationHandle_t& memory,
                          SharedPiece& piece) const {
  const auto found = physical_.find(raw);
  if (found == physical_.end() || found->second.adopted) return false;
  memory = found->second.memory;
  piece = {SharedPiece::Kind::kPhysical, found->second.device, found->second.bytes, 0, found->second.bytes};
  return true;
}

hipError_t PhysicalMemory::release(std::uint64_t raw) {
  const auto found = physical_.find(raw);
  if (found == physical_.end()) return hipErrorInvalidHandle;
  const Physical physical = found->second;
  if (physical.mappings != 0) return hipErrorInvalidValue;
  physical_.erase(found);
  quota_of(physical).give(physical.device, physical.bytes);
  return hip_.hipMemRelease(physical.memory);
}

// Where each range has a reservation of the runtime's: makes that with the first mapping.
hipError_t PhysicalMemory::enter(const protocol::AddressWindow& range, std::uint64_t address,
                                 std::uint64_t bytes) {
  if (!vmm_.ranges_apart) return hipSuccess;
  const bool inside = reserved(range.base, range.bytes) && address >= range.base && bytes <= range.bytes &&
                      address - range.base <= range.bytes - bytes;
  if (!inside) return hipErrorInvalidValue;
  const auto found = ranges_.find(range.base);
  if (found != ranges_.end() && found->second.bytes == range.bytes)
    return ++found->second.mappings, hipSuccess;
  if (overlaps(ranges_, range.base, range.bytes)) return hipErrorInvalidValue;
  void* const wanted = pointer_to(range.base);
  void* got = nullptr;
  const hipError_t error = vmm_.range_reserve(&got, range.bytes, 0, wanted, 0);
  if (error != hipSuccess) return error;
  if (got != wanted) return own_calls_.pass_on(vmm_.range_free(got, range.bytes)), hipErrorOutOfMemory;
  ranges_.emplace(range.base, Range{range.bytes, 1});
  return hipSuccess;
}

void PhysicalMemory::leave(std::uint64_t range) {
  const auto found = ranges_.find(range);
  if (found == ranges_.end() || --found->second.mappings != 0) return;
  own_calls_.pass_on(vmm_.range_free(pointer_to(range), found->second.bytes));
  ranges_.erase(found);
}

hipError_t PhysicalMemory::map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset,
                               std::uint64_t raw, const protocol::AddressWindow& range) {
  const auto found = physical_.find(raw);
  if (found == physical_.end()) return hipErrorInvalidHandle;
  Physical& physical = found->second;
  if (offset > physical.bytes || bytes > physical.bytes - offset) return hipErrorInvalidValue;
  // A runtime that maps no parts may count a reference for what it then does not map.
  if (!vmm_.maps_parts && bytes != physical.bytes) return hipErrorInvalidValue;
  if (!reserved(address, bytes) || overlaps(mappings_, address, bytes)) return hipErrorInvalidValue;
  if (mappings_.size() >= kMappingsMax) return hipErrorOutOfMemory;
  hipError_t error = enter(range, address, bytes);
  if (error != hipSuccess) return error;
  error = hip_.hipMemMap(pointer_to(address), bytes, offset, physical.memory, 0);
  if (error != hipSuccess) return leave(range.base), error;
  mappings_.emplace(address, Mapping{bytes, raw, range.base, false});
  ++physical.mappings;
  return hipSuccess;
}

hipError_t PhysicalMemory::unmap(std::uint64_t address, std::uint64_t bytes) {
  if (!is_mapped(address, bytes)) return hipErrorInvalidValue;
  hipError_t first = hipSuccess;
  // One by one: AMD's runtime 6.4 ends one mapping at a time, and says that it has ended all. What cannot be
  // ended is forgotten as well: the client's account has to be this one.
  for (auto mapping = mappings_.find(address);
       mapping != mappings_.end() && mapping->first - address < bytes;) {
    const hipError_t error = hip_.hipMemUnmap(pointer_to(mapping->first), mapping->second.bytes);
    if (first == hipSuccess) first = error;
    if (mapping->second.reachable) addresses_.remove(mapping->first);
    --physical_.at(mapping->second.physical).mappings;
    leave(mapping->second.range);
    mapping = mappings_.erase(mapping);
  }
  return first;
}

hipError_t PhysicalMemory::show(Mappings::iterator mapping, bool reachable) {
  if (mapping->second.reachable == reachable) return hipSuccess;
  if (reachable && !addresses_.add(mapping->first, mapping->second.bytes,
                                   physical_.at(mapping->second.physical).device, AddressMap::Edge::kJoins))
    return hipErrorOutOfMemory;
  if (!reachable) addresses_.remove(mapping->first);
  mapping->second.reachable = reachable;
  return hipSuccess;
}

hipError_t PhysicalMemory::set_access(std::uint64_t address, std::uint64_t bytes,
                                      std::span<const hipMemAccessDesc> wishes) {
  if (wishes.empty() || !is_mapped(address, bytes)) return hipErrorInvalidValue;
  const hipError_t together = hip_.hipMemSetAccess(pointer_to(address), bytes, wishes.data(), wishes.size());
  // ROCr 6.0 takes one mapping at a time.
  const bool several = mappings_.find(address)->second.bytes != bytes;
  const hipError_t error =
      together != hipSuccess && several ? set_access_one_by_one(address, bytes, wishes) : together;
  const hipError_t shown = show_all(address, bytes);
  return error != hipSuccess ? error : shown;
}

hipError_t PhysicalMemory::set_access_one_by_one(std::uint64_t address, std::uint64_t bytes,
                                                 std::span<const hipMemAccessDesc> wishes) {
  for (auto mapping = mappings_.find(address); mapping != mappings_.end() && mapping->first - address < bytes;
       ++mapping) {
    void* const begin = pointer_to(mapping->first);
    const hipError_t error = hip_.hipMemSetAccess(begin, mapping->second.bytes, wishes.data(), wishes.size());
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

// What the runtime now says of each mapping, also after an error.
hipError_t PhysicalMemory::show_all(std::uint64_t address, std::uint64_t bytes) {
  hipError_t first = hipSuccess;
  for (auto mapping = mappings_.find(address); mapping != mappings_.end() && mapping->first - address < bytes;
       ++mapping) {
    const hipError_t error = show(mapping, is_reachable(mapping->first));
    if (first == hipSuccess) first = error;
  }
  return first;
}

bool PhysicalMemory::is_reachable(std::uint64_t address) const {
  for (int device = 0; static_cast<std::size_t>(device) < snapshot_.devices.size(); ++device) {
    unsigned long long flags = 0;
    if (get_access(address, device, flags) == hipSuccess && flags != hipMemAccessFlagsProtNone) return true;
  }
  return false;
}

hipError_t PhysicalMemory::get_access(std::uint64_t address, int device, unsigned long long& flags) const {
  auto mapping = mappings_.upper_bound(address);
  if (mapping == mappings_.begin()) return hipErrorInvalidValue;
  --mapping;
  if (address - mapping->first >= mapping->second.bytes) return hipErrorInvalidValue;
  const hipMemLocation location{hipMemLocationTypeDevice, device};
  return hip_.hipMemGetAccess(&flags, &location, pointer_to(address));
}

}  // namespace tf::worker
