// SPDX-License-Identifier: Apache-2.0
// One field list per struct serves both directions: `visit(archive, value)` with an Encoder or a Decoder.
#include "hipcore/wire/device_snapshot.h"

#include <algorithm>
#include <type_traits>

namespace tf::protocol {
namespace {

// Smallest encodings, for checking counts before anything is allocated.
constexpr std::size_t kAttributeBytes = 12;
constexpr std::size_t kLimitBytes = 16;
constexpr std::size_t kPeerBytes = 16;
constexpr std::size_t kDeviceBytesMin = 256;
constexpr std::size_t kPciBusIdBytesMax = 64;
// No user-space address of the machines we run on lies above this.
constexpr std::uint64_t kAddressMax = 1ull << 57;

template <typename Archive, typename... Fields>
void fields(Archive& archive, Fields&... values) {
  (archive.field(values), ...);
}

template <typename Archive, typename Properties>
void visit_properties(Archive& a, Properties& p) {
  a.field(p.name, kNameBytesMax);
  a.field(p.gcn_arch_name, kNameBytesMax);
  a.array(p.uuid);
  fields(a, p.total_global_mem, p.shared_mem_per_block, p.total_const_mem,
         p.max_shared_memory_per_multiprocessor, p.mem_pitch, p.texture_alignment, p.texture_pitch_alignment);
  a.array(p.max_threads_dim);
  a.array(p.max_grid_size);
  a.array(p.max_texture_2d);
  a.array(p.max_texture_3d);
  fields(a, p.max_texture_1d, p.max_texture_1d_linear, p.regs_per_block, p.warp_size, p.max_threads_per_block,
         p.max_threads_per_multiprocessor, p.multi_processor_count, p.clock_rate_khz,
         p.clock_instruction_rate_khz, p.memory_clock_rate_khz, p.memory_bus_width_bits, p.l2_cache_bytes,
         p.major, p.minor, p.arch, p.gcn_arch, p.compute_mode, p.concurrent_kernels, p.pci_domain, p.pci_bus,
         p.pci_device, p.is_multi_gpu_board, p.can_map_host_memory, p.integrated, p.cooperative_launch,
         p.cooperative_multi_device_launch, p.cooperative_multi_device_unmatched_func,
         p.cooperative_multi_device_unmatched_grid_dim, p.cooperative_multi_device_unmatched_block_dim,
         p.cooperative_multi_device_unmatched_shared_mem, p.kernel_exec_timeout_enabled, p.ecc_enabled,
         p.tcc_driver, p.is_large_bar, p.asic_revision, p.managed_memory,
         p.direct_managed_mem_access_from_host, p.concurrent_managed_access, p.pageable_memory_access,
         p.pageable_memory_access_uses_host_page_tables);
}

template <typename Archive, typename Device>
void visit_device(Archive& a, Device& device) {
  visit_properties(a, device.properties);
  a.field(device.pci_bus_id, kPciBusIdBytesMax);
  fields(a, device.total_memory, device.free_memory, device.window.base, device.window.bytes,
         device.lease_granularity_bytes, device.map_granularity_bytes);
  if (a.elements(device.attributes, kAttributesMax, kAttributeBytes))
    for (auto& entry : device.attributes) fields(a, entry.attribute, entry.error, entry.value);
  if (a.elements(device.limits, kLimitsMax, kLimitBytes))
    for (auto& entry : device.limits) fields(a, entry.limit, entry.error, entry.value);
}

template <typename Archive, typename Snapshot>
void visit_snapshot(Archive& a, Snapshot& s) {
  a.field(s.runtime, kNameBytesMax);
  fields(a, s.runtime_version, s.driver_version, s.init_error, s.stream_priority_least,
         s.stream_priority_greatest, s.vmm_leases, s.memory_shared, s.fine_grained, s.reservations.base,
         s.reservations.bytes, s.host_window.base, s.host_window.bytes);
  auto access = static_cast<std::uint32_t>(s.host_access);
  a.field(access);
  auto device_access = static_cast<std::uint32_t>(s.device_access);
  a.field(device_access);
  if constexpr (!std::is_const_v<Snapshot>) {
    s.host_access = static_cast<HostAccess>(access);
    s.device_access = static_cast<DeviceAccess>(device_access);
  }
  if (a.elements(s.devices, kDevicesMax, kDeviceBytesMin))
    for (auto& device : s.devices) visit_device(a, device);
  if (a.elements(s.peers, kDevicesMax * kDevicesMax, kPeerBytes))
    for (auto& link : s.peers)
      fields(a, link.can_access, link.performance_rank, link.native_atomics, link.array_access);
}

bool overlaps(const AddressWindow& a, const AddressWindow& b) {
  return a.bytes != 0 && b.bytes != 0 && a.base < b.base + b.bytes && b.base < a.base + a.bytes;
}

std::string check_range(const AddressWindow& window) {
  if (window.bytes > kAddressMax || window.base > kAddressMax - window.bytes)
    return "address window is not a range of addresses";
  return window.bytes != 0 && window.base == 0 ? "address window at 0" : "";
}

void check_window(Decoder& in, const WorkerSnapshot& snapshot, std::size_t index) {
  const AddressWindow& window = snapshot.devices[index].window;
  const std::string device = "device " + std::to_string(index);
  if (const std::string wrong = check_range(window); !wrong.empty()) return in.fail(device + ": " + wrong);
  if (overlaps(window, snapshot.reservations)) return in.fail(device + ": window overlaps the reservations");
  if (overlaps(window, snapshot.host_window)) return in.fail(device + ": window overlaps the host window");
  for (std::size_t other = 0; other < index; ++other) {
    if (overlaps(window, snapshot.devices[other].window))
      return in.fail("address windows of devices " + std::to_string(other) + " and " + std::to_string(index) +
                     " overlap");
  }
}

void check_host_window(Decoder& in, const WorkerSnapshot& snapshot) {
  const AddressWindow& window = snapshot.host_window;
  if (const std::string wrong = check_range(window); !wrong.empty()) return in.fail("host window: " + wrong);
  if (snapshot.host_access > HostAccess::kMirrored) return in.fail("unknown kind of host access");
  if ((snapshot.host_access != HostAccess::kNone) != (window.bytes != 0))
    return in.fail("host access without a window for it, or the reverse");
  if (window.base % kHostPartBytes != 0 || window.bytes % kHostPartBytes != 0)
    return in.fail("host window: not of whole parts");
  if (overlaps(window, snapshot.reservations)) return in.fail("host window overlaps the reservations");
}

}  // namespace

const AttributeValue* DeviceSnapshot::attribute(std::int32_t attribute_number) const {
  auto found = std::find_if(attributes.begin(), attributes.end(),
                            [&](const AttributeValue& entry) { return entry.attribute == attribute_number; });
  return found == attributes.end() ? nullptr : &*found;
}

void encode(Encoder& out, const WorkerSnapshot& snapshot) { visit_snapshot(out, snapshot); }

void decode(Decoder& in, WorkerSnapshot& snapshot) {
  visit_snapshot(in, snapshot);
  if (!in.status().is_ok()) return;
  if (snapshot.vmm_leases > 1) return in.fail("vmm_leases is neither 0 nor 1");
  if (snapshot.peers.size() != snapshot.devices.size() * snapshot.devices.size())
    return in.fail("peer matrix does not fit the number of devices");
  if (snapshot.memory_shared > 1) return in.fail("memory_shared is neither 0 nor 1");
  if (snapshot.fine_grained > 1) return in.fail("fine_grained is neither 0 nor 1");
  if (const std::string wrong = check_range(snapshot.reservations); !wrong.empty())
    return in.fail("reservations: " + wrong);
  check_host_window(in, snapshot);
  if (snapshot.device_access > DeviceAccess::kMapped) return in.fail("unknown kind of device access");
  if (snapshot.device_access != DeviceAccess::kNone && snapshot.vmm_leases == 0)
    return in.fail("mapped leases without windows for them");
  for (std::size_t index = 0; index < snapshot.devices.size(); ++index) check_window(in, snapshot, index);
}

}  // namespace tf::protocol
