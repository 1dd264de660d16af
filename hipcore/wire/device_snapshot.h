// SPDX-License-Identifier: Apache-2.0
// What HELLO tells the client about the worker's devices. It answers dozens of HIP calls from this.
//
// Fields are ours, fixed-width and of no HIP release; both sides convert (proxy/abi;
// worker/session/device_facts.h). Plain values: copy freely; do not share while writing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hipcore/wire/archive.h"
#include "transport/base/status.h"

namespace tf::protocol {

inline constexpr std::size_t kDevicesMax = 64;      // per worker
inline constexpr std::size_t kAttributesMax = 512;  // per device
inline constexpr std::size_t kLimitsMax = 32;       // per device
inline constexpr std::size_t kNameBytesMax = 255;   // device, architecture and runtime names
// Parts of the host window begin at, and are, multiples of this, the size of a huge page.
inline constexpr std::uint64_t kHostPartBytes = 2ull << 20;

// Bits of DeviceProperties::arch, in the order of hipDeviceArch_t's fields.
enum ArchBit : std::uint32_t {
  kArchGlobalInt32Atomics = 1u << 0,
  kArchGlobalFloatAtomicExch = 1u << 1,
  kArchSharedInt32Atomics = 1u << 2,
  kArchSharedFloatAtomicExch = 1u << 3,
  kArchFloatAtomicAdd = 1u << 4,
  kArchGlobalInt64Atomics = 1u << 5,
  kArchSharedInt64Atomics = 1u << 6,
  kArchDoubles = 1u << 7,
  kArchWarpVote = 1u << 8,
  kArchWarpBallot = 1u << 9,
  kArchWarpShuffle = 1u << 10,
  kArchFunnelShift = 1u << 11,
  kArchThreadFenceSystem = 1u << 12,
  kArchSyncThreadsExt = 1u << 13,
  kArchSurfaceFuncs = 1u << 14,
  kArch3dGrid = 1u << 15,
  kArchDynamicParallelism = 1u << 16,
};

struct DeviceProperties {
  std::string name;
  std::string gcn_arch_name;
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t total_global_mem = 0;
  std::uint64_t shared_mem_per_block = 0;
  std::uint64_t total_const_mem = 0;
  std::uint64_t max_shared_memory_per_multiprocessor = 0;
  std::uint64_t mem_pitch = 0;
  std::uint64_t texture_alignment = 0;
  std::uint64_t texture_pitch_alignment = 0;
  std::array<std::int32_t, 3> max_threads_dim{};
  std::array<std::int32_t, 3> max_grid_size{};
  std::array<std::int32_t, 2> max_texture_2d{};
  std::array<std::int32_t, 3> max_texture_3d{};
  std::int32_t max_texture_1d = 0;
  std::int32_t max_texture_1d_linear = 0;
  std::int32_t regs_per_block = 0;
  std::int32_t warp_size = 0;
  std::int32_t max_threads_per_block = 0;
  std::int32_t max_threads_per_multiprocessor = 0;
  std::int32_t multi_processor_count = 0;
  std::int32_t clock_rate_khz = 0;
  std::int32_t clock_instruction_rate_khz = 0;
  std::int32_t memory_clock_rate_khz = 0;
  std::int32_t memory_bus_width_bits = 0;
  std::int32_t l2_cache_bytes = 0;
  std::int32_t major = 0;
  std::int32_t minor = 0;
  std::uint32_t arch = 0;  // ArchBit
  std::int32_t gcn_arch = 0;
  std::int32_t compute_mode = 0;
  std::int32_t concurrent_kernels = 0;
  std::int32_t pci_domain = 0;
  std::int32_t pci_bus = 0;
  std::int32_t pci_device = 0;
  std::int32_t is_multi_gpu_board = 0;
  std::int32_t can_map_host_memory = 0;
  std::int32_t integrated = 0;
  std::int32_t cooperative_launch = 0;
  std::int32_t cooperative_multi_device_launch = 0;
  std::int32_t cooperative_multi_device_unmatched_func = 0;
  std::int32_t cooperative_multi_device_unmatched_grid_dim = 0;
  std::int32_t cooperative_multi_device_unmatched_block_dim = 0;
  std::int32_t cooperative_multi_device_unmatched_shared_mem = 0;
  std::int32_t kernel_exec_timeout_enabled = 0;
  std::int32_t ecc_enabled = 0;
  std::int32_t tcc_driver = 0;
  std::int32_t is_large_bar = 0;
  std::int32_t asic_revision = 0;
  std::int32_t managed_memory = 0;
  std::int32_t direct_managed_mem_access_from_host = 0;
  std::int32_t concurrent_managed_access = 0;
  std::int32_t pageable_memory_access = 0;
  std::int32_t pageable_memory_access_uses_host_page_tables = 0;

  friend bool operator==(const DeviceProperties&, const DeviceProperties&) = default;
};

// One hipDeviceAttribute_t (HIP 5 numbering) and hipDeviceGetAttribute's answer for it.
struct AttributeValue {
  std::int32_t attribute = 0;
  std::int32_t error = 0;  // hipError_t; `value` counts only when 0
  std::int32_t value = 0;
  friend bool operator==(const AttributeValue&, const AttributeValue&) = default;
};

// One hipLimit_t and hipDeviceGetLimit's answer for it.
struct LimitValue {
  std::int32_t limit = 0;
  std::int32_t error = 0;
  std::uint64_t value = 0;
  friend bool operator==(const LimitValue&, const LimitValue&) = default;
};

// Device addresses of one device lie in [base, base + bytes) if the runtime lets the worker choose them.
// bytes 0: it does not, and leases are ordinary allocations anywhere.
struct AddressWindow {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  bool contains(std::uint64_t address, std::uint64_t length) const {
    return address >= base && address - base <= bytes && length <= bytes - (address - base);
  }
  friend bool operator==(const AddressWindow&, const AddressWindow&) = default;
};

// How host memory that the device uses gets the same addresses on both sides.
enum class HostAccess : std::uint32_t {
  kNone = 0,
  kShared = 1,    // one file that both map
  kMirrored = 2,  // a copy on each side, synchronised where HIP makes the program wait
};

// How the client itself can access the memory of leases.
enum class DeviceAccess : std::uint32_t {
  kNone = 0,
  kMapped = 1,  // every lease comes with a file that the client maps at the same addresses
};

// The part of a shared host window where the client's files are mapped (MapHostFile). The rest is cut into
// parts (OpenHostPart).
constexpr AddressWindow host_files_of(const AddressWindow& window) {
  const std::uint64_t bytes = window.bytes / 4 / kHostPartBytes * kHostPartBytes;
  return {window.base + window.bytes - bytes, bytes};
}

struct DeviceSnapshot {
  DeviceProperties properties;
  std::string pci_bus_id;          // "0000:03:00.0", as hipDeviceGetPCIBusId writes it
  std::uint64_t total_memory = 0;  // this session's quota
  std::uint64_t free_memory = 0;   // when the snapshot was taken
  AddressWindow window;
  std::uint64_t lease_granularity_bytes = 0;
  std::uint64_t map_granularity_bytes = 0;  // of hipMemCreate and hipMemMap, at least; 0: there are none
  std::vector<AttributeValue> attributes;
  std::vector<LimitValue> limits;

  // The answer for `attribute`, nullptr when the worker's runtime did not know it at all.
  const AttributeValue* attribute(std::int32_t attribute_number) const;
  friend bool operator==(const DeviceSnapshot&, const DeviceSnapshot&) = default;
};

// hipDeviceGetP2PAttribute and hipDeviceCanAccessPeer for one ordered pair of devices.
struct PeerLink {
  std::int32_t can_access = 0;
  std::int32_t performance_rank = 0;
  std::int32_t native_atomics = 0;
  std::int32_t array_access = 0;
  friend bool operator==(const PeerLink&, const PeerLink&) = default;
};

struct WorkerSnapshot {
  std::string runtime;  // "cpu", "amd", "cuda" or the path that was asked for
  std::int32_t runtime_version = 0;
  std::int32_t driver_version = 0;
  std::int32_t init_error = 0;  // hipError_t of hipInit / hipGetDeviceCount on the worker
  std::int32_t stream_priority_least = 0;
  std::int32_t stream_priority_greatest = 0;
  std::uint32_t vmm_leases = 0;     // 1: leases lie inside each device's window
  std::uint32_t memory_shared = 0;  // 1: memory can be shared with other sessions of the worker (IPC)
  // 1: the runtime has hipExtMallocWithFlags, and is not the one for the host's cores.
  std::uint32_t fine_grained = 0;
  // The client serves hipMemAddressReserve from this range. bytes 0: no virtual memory management.
  AddressWindow reservations;
  // The client opens parts of this range for its host memory; the device uses them at the same addresses.
  AddressWindow host_window;
  HostAccess host_access = HostAccess::kNone;  // kNone: there is no window
  DeviceAccess device_access = DeviceAccess::kNone;
  std::vector<DeviceSnapshot> devices;
  std::vector<PeerLink> peers;  // devices.size() squared, row = accessing device

  // REQUIRES: both below devices.size()
  const PeerLink& peer(std::size_t from, std::size_t to) const { return peers[from * devices.size() + to]; }
  friend bool operator==(const WorkerSnapshot&, const WorkerSnapshot&) = default;
};

// After decode() `snapshot` is consistent (counts within limits, peers square, windows not wrapping), or the
// reader has failed.
void encode(Encoder& out, const WorkerSnapshot& snapshot);
void decode(Decoder& in, WorkerSnapshot& snapshot);

}  // namespace tf::protocol
