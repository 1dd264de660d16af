// SPDX-License-Identifier: Apache-2.0
// Converts the runtime's answers to the wire's own structs: the boundary in the worker between a HIP
// release's layouts and ours.
#include "worker/session/device_facts.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "hipcore/errors/limits.h"
#include "worker/base/log.h"

namespace tf::worker {
namespace {

using protocol::DeviceProperties;
using protocol::DeviceSnapshot;
using protocol::HipTable;
using protocol::WorkerSnapshot;

// A fixed-size text field that need not be terminated.
template <std::size_t N>
std::string text(const char (&field)[N]) {
  return std::string(field, ::strnlen(field, std::min(N, protocol::kNameBytesMax)));
}

std::uint32_t arch_bits(const hipDeviceArch_t& arch) {
  const bool bits[] = {arch.hasGlobalInt32Atomics != 0, arch.hasGlobalFloatAtomicExch != 0,
                       arch.hasSharedInt32Atomics != 0, arch.hasSharedFloatAtomicExch != 0,
                       arch.hasFloatAtomicAdd != 0,     arch.hasGlobalInt64Atomics != 0,
                       arch.hasSharedInt64Atomics != 0, arch.hasDoubles != 0,
                       arch.hasWarpVote != 0,           arch.hasWarpBallot != 0,
                       arch.hasWarpShuffle != 0,        arch.hasFunnelShift != 0,
                       arch.hasThreadFenceSystem != 0,  arch.hasSyncThreadsExt != 0,
                       arch.hasSurfaceFuncs != 0,       arch.has3dGrid != 0,
                       arch.hasDynamicParallelism != 0};
  std::uint32_t result = 0;
  for (unsigned bit = 0; bit < std::size(bits); ++bit) result |= static_cast<std::uint32_t>(bits[bit]) << bit;
  return result;
}

void convert_sizes(const hipDeviceProp_t& from, DeviceProperties& to) {
  to.name = text(from.name);
  to.gcn_arch_name = text(from.gcnArchName);
  to.total_global_mem = from.totalGlobalMem;
  to.shared_mem_per_block = from.sharedMemPerBlock;
  to.total_const_mem = from.totalConstMem;
  to.max_shared_memory_per_multiprocessor = from.maxSharedMemoryPerMultiProcessor;
  to.mem_pitch = from.memPitch;
  to.texture_alignment = from.textureAlignment;
  to.texture_pitch_alignment = from.texturePitchAlignment;
  std::copy_n(from.maxThreadsDim, 3, to.max_threads_dim.begin());
  std::copy_n(from.maxGridSize, 3, to.max_grid_size.begin());
  std::copy_n(from.maxTexture2D, 2, to.max_texture_2d.begin());
  std::copy_n(from.maxTexture3D, 3, to.max_texture_3d.begin());
  to.max_texture_1d = from.maxTexture1D;
  to.max_texture_1d_linear = from.maxTexture1DLinear;
  to.regs_per_block = from.regsPerBlock;
  to.warp_size = from.warpSize;
  to.max_threads_per_block = from.maxThreadsPerBlock;
  to.max_threads_per_multiprocessor = from.maxThreadsPerMultiProcessor;
  to.multi_processor_count = from.multiProcessorCount;
  to.clock_rate_khz = from.clockRate;
  to.clock_instruction_rate_khz = from.clockInstructionRate;
  to.memory_clock_rate_khz = from.memoryClockRate;
  to.memory_bus_width_bits = from.memoryBusWidth;
  to.l2_cache_bytes = from.l2CacheSize;
  to.major = from.major;
  to.minor = from.minor;
}

void convert_features(const hipDeviceProp_t& from, DeviceProperties& to) {
  to.arch = arch_bits(from.arch);
  to.gcn_arch = from.gcnArch;
  to.compute_mode = from.computeMode;
  to.concurrent_kernels = from.concurrentKernels;
  to.pci_domain = from.pciDomainID;
  to.pci_bus = from.pciBusID;
  to.pci_device = from.pciDeviceID;
  to.is_multi_gpu_board = from.isMultiGpuBoard;
  to.can_map_host_memory = from.canMapHostMemory;
  to.integrated = from.integrated;
  to.cooperative_launch = from.cooperativeLaunch;
  to.cooperative_multi_device_launch = from.cooperativeMultiDeviceLaunch;
  to.cooperative_multi_device_unmatched_func = from.cooperativeMultiDeviceUnmatchedFunc;
  to.cooperative_multi_device_unmatched_grid_dim = from.cooperativeMultiDeviceUnmatchedGridDim;
  to.cooperative_multi_device_unmatched_block_dim = from.cooperativeMultiDeviceUnmatchedBlockDim;
  to.cooperative_multi_device_unmatched_shared_mem = from.cooperativeMultiDeviceUnmatchedSharedMem;
  to.kernel_exec_timeout_enabled = from.kernelExecTimeoutEnabled;
  to.ecc_enabled = from.ECCEnabled;
  to.tcc_driver = from.tccDriver;
  to.is_large_bar = from.isLargeBar;
  to.asic_revision = from.asicRevision;
  to.managed_memory = from.managedMemory;
  to.direct_managed_mem_access_from_host = from.directManagedMemAccessFromHost;
  to.concurrent_managed_access = from.concurrentManagedAccess;
  to.pageable_memory_access = from.pageableMemoryAccess;
  to.pageable_memory_access_uses_host_page_tables = from.pageableMemoryAccessUsesHostPageTables;
}

// Excludes attributes whose value is a pointer, a text or a struct, which would be written over the int.
bool answers_an_int(int attribute) {
  switch (attribute) {
    case hipDeviceAttributeLuid:
    case hipDeviceAttributeName:
    case hipDeviceAttributeUuid:
    case hipDeviceAttributeArch:
    case hipDeviceAttributeGcnArchName:
    case hipDeviceAttributeHdpMemFlushCntl:
    case hipDeviceAttributeHdpRegFlushCntl: return false;
    default: return true;
  }
}

void ask_attributes(const HipTable& hip, int device, int first, int last, DeviceSnapshot& snapshot) {
  for (int attribute = first; attribute <= last; ++attribute) {
    if (!answers_an_int(attribute)) continue;
    union {
      int value;
      char room[512];  // in case a release answers with more than an int after all
    } answer{};
    const hipError_t error =
        hip.hipDeviceGetAttribute(&answer.value, static_cast<hipDeviceAttribute_t>(attribute), device);
    snapshot.attributes.push_back({attribute, error, error == hipSuccess ? answer.value : 0});
  }
}

void ask_limits(const HipTable& hip, DeviceSnapshot& snapshot) {
  for (const hipLimit_t limit : {hipdata::kLimitStackSize, hipLimitPrintfFifoSize, hipLimitMallocHeapSize}) {
    std::size_t value = 0;
    const hipError_t error = hip.hipDeviceGetLimit(&value, limit);
    snapshot.limits.push_back({limit, error, error == hipSuccess ? value : 0});
  }
}

DeviceSnapshot ask_device(const HipTable& hip, int device) {
  DeviceSnapshot snapshot;
  hipDeviceProp_t properties{};
  if (hip.hipGetDeviceProperties(&properties, device) == hipSuccess) {
    convert_sizes(properties, snapshot.properties);
    convert_features(properties, snapshot.properties);
  }
  snapshot.total_memory = snapshot.properties.total_global_mem;
  hipUUID uuid{};
  if (hip.hipDeviceGetUuid(&uuid, device) == hipSuccess)
    std::memcpy(snapshot.properties.uuid.data(), uuid.bytes, snapshot.properties.uuid.size());
  char bus_id[64] = {};
  if (hip.hipDeviceGetPCIBusId(bus_id, sizeof bus_id, device) == hipSuccess)
    snapshot.pci_bus_id = text(bus_id);
  ask_attributes(hip, device, hipDeviceAttributeCudaCompatibleBegin, hipDeviceAttributeHostNumaId, snapshot);
  ask_attributes(hip, device, hipDeviceAttributeAmdSpecificBegin, hipDeviceAttributeNumberOfXccs, snapshot);
  if (hip.hipSetDevice(device) != hipSuccess) return snapshot;
  ask_limits(hip, snapshot);
  std::size_t free = 0;
  std::size_t total = 0;
  if (hip.hipMemGetInfo(&free, &total) == hipSuccess) {
    snapshot.free_memory = free;
    snapshot.total_memory = total;
  }
  return snapshot;
}

protocol::PeerLink ask_link(const HipTable& hip, int from, int to) {
  protocol::PeerLink link;
  if (from == to) return link;
  static_cast<void>(hip.hipDeviceCanAccessPeer(&link.can_access, from, to));
  static_cast<void>(
      hip.hipDeviceGetP2PAttribute(&link.performance_rank, hipDevP2PAttrPerformanceRank, from, to));
  static_cast<void>(
      hip.hipDeviceGetP2PAttribute(&link.native_atomics, hipDevP2PAttrNativeAtomicSupported, from, to));
  static_cast<void>(
      hip.hipDeviceGetP2PAttribute(&link.array_access, hipDevP2PAttrHipArrayAccessSupported, from, to));
  return link;
}

}  // namespace

WorkerSnapshot take_snapshot(const RuntimeLibrary& runtime) {
  const HipTable& hip = runtime.hip();
  WorkerSnapshot snapshot;
  snapshot.runtime = runtime.name();
  int count = 0;
  hipError_t error = hip.hipInit(0);
  if (error == hipSuccess) error = hip.hipGetDeviceCount(&count);
  snapshot.init_error = error;
  if (error != hipSuccess || count <= 0) {
    log(LogLevel::kWarning, "{}: no device (error {})", runtime.path(), static_cast<int>(error));
    // AMD's runtime says "invalid device" for it too, depending on the release and on which call is first.
    if (error == hipSuccess || error == hipErrorInvalidDevice) snapshot.init_error = hipErrorNoDevice;
    return snapshot;
  }
  static_cast<void>(hip.hipRuntimeGetVersion(&snapshot.runtime_version));
  static_cast<void>(hip.hipDriverGetVersion(&snapshot.driver_version));
  static_cast<void>(hip.hipDeviceGetStreamPriorityRange(&snapshot.stream_priority_least,
                                                        &snapshot.stream_priority_greatest));
  count = std::min(count, static_cast<int>(protocol::kDevicesMax));
  for (int device = 0; device < count; ++device) snapshot.devices.push_back(ask_device(hip, device));
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to) snapshot.peers.push_back(ask_link(hip, from, to));
  static_cast<void>(hip.hipSetDevice(0));
  return snapshot;
}

}  // namespace tf::worker
