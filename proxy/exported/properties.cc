// SPDX-License-Identifier: Apache-2.0
// Fills hipDeviceProp_t of HIP 5 from the snapshot.
#include "proxy/exported/properties.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace tf::proxy {
namespace {

template <std::size_t N>
void copy_text(const std::string& from, char (&to)[N]) {
  std::size_t bytes = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), bytes);
}

void copy_arch(std::uint32_t from, hipDeviceArch_t& to) {
  auto has = [from](std::uint32_t bit) { return (from & bit) != 0; };
  to.hasGlobalInt32Atomics = has(protocol::kArchGlobalInt32Atomics);
  to.hasGlobalFloatAtomicExch = has(protocol::kArchGlobalFloatAtomicExch);
  to.hasSharedInt32Atomics = has(protocol::kArchSharedInt32Atomics);
  to.hasSharedFloatAtomicExch = has(protocol::kArchSharedFloatAtomicExch);
  to.hasFloatAtomicAdd = has(protocol::kArchFloatAtomicAdd);
  to.hasGlobalInt64Atomics = has(protocol::kArchGlobalInt64Atomics);
  to.hasSharedInt64Atomics = has(protocol::kArchSharedInt64Atomics);
  to.hasDoubles = has(protocol::kArchDoubles);
  to.hasWarpVote = has(protocol::kArchWarpVote);
  to.hasWarpBallot = has(protocol::kArchWarpBallot);
  to.hasWarpShuffle = has(protocol::kArchWarpShuffle);
  to.hasFunnelShift = has(protocol::kArchFunnelShift);
  to.hasThreadFenceSystem = has(protocol::kArchThreadFenceSystem);
  to.hasSyncThreadsExt = has(protocol::kArchSyncThreadsExt);
  to.hasSurfaceFuncs = has(protocol::kArchSurfaceFuncs);
  to.has3dGrid = has(protocol::kArch3dGrid);
  to.hasDynamicParallelism = has(protocol::kArchDynamicParallelism);
}

void copy_limits(const protocol::DeviceProperties& from, hipDeviceProp_t& to) {
  to.totalGlobalMem = from.total_global_mem;
  to.sharedMemPerBlock = from.shared_mem_per_block;
  to.totalConstMem = from.total_const_mem;
  to.maxSharedMemoryPerMultiProcessor = from.max_shared_memory_per_multiprocessor;
  to.memPitch = from.mem_pitch;
  to.textureAlignment = from.texture_alignment;
  to.texturePitchAlignment = from.texture_pitch_alignment;
  std::copy(from.max_threads_dim.begin(), from.max_threads_dim.end(), to.maxThreadsDim);
  std::copy(from.max_grid_size.begin(), from.max_grid_size.end(), to.maxGridSize);
  std::copy(from.max_texture_2d.begin(), from.max_texture_2d.end(), to.maxTexture2D);
  std::copy(from.max_texture_3d.begin(), from.max_texture_3d.end(), to.maxTexture3D);
  to.maxTexture1D = from.max_texture_1d;
  to.maxTexture1DLinear = from.max_texture_1d_linear;
  to.regsPerBlock = from.regs_per_block;
  to.warpSize = from.warp_size;
  to.maxThreadsPerBlock = from.max_threads_per_block;
  to.maxThreadsPerMultiProcessor = from.max_threads_per_multiprocessor;
  to.multiProcessorCount = from.multi_processor_count;
  to.clockRate = from.clock_rate_khz;
  to.clockInstructionRate = from.clock_instruction_rate_khz;
  to.memoryClockRate = from.memory_clock_rate_khz;
  to.memoryBusWidth = from.memory_bus_width_bits;
  to.l2CacheSize = from.l2_cache_bytes;
}

}  // namespace

void to_hip(const protocol::DeviceProperties& from, hipDeviceProp_t& to) {
  std::memset(&to, 0, sizeof to);
  copy_text(from.name, to.name);
  copy_text(from.gcn_arch_name, to.gcnArchName);
  copy_limits(from, to);
  copy_arch(from.arch, to.arch);
  to.major = from.major;
  to.minor = from.minor;
  to.gcnArch = from.gcn_arch;
  to.computeMode = from.compute_mode;
  to.concurrentKernels = from.concurrent_kernels;
  to.pciDomainID = from.pci_domain;
  to.pciBusID = from.pci_bus;
  to.pciDeviceID = from.pci_device;
  to.isMultiGpuBoard = from.is_multi_gpu_board;
  to.canMapHostMemory = from.can_map_host_memory;
  to.integrated = from.integrated;
  to.cooperativeLaunch = from.cooperative_launch;
  to.cooperativeMultiDeviceLaunch = from.cooperative_multi_device_launch;
  to.cooperativeMultiDeviceUnmatchedFunc = from.cooperative_multi_device_unmatched_func;
  to.cooperativeMultiDeviceUnmatchedGridDim = from.cooperative_multi_device_unmatched_grid_dim;
  to.cooperativeMultiDeviceUnmatchedBlockDim = from.cooperative_multi_device_unmatched_block_dim;
  to.cooperativeMultiDeviceUnmatchedSharedMem = from.cooperative_multi_device_unmatched_shared_mem;
  to.kernelExecTimeoutEnabled = from.kernel_exec_timeout_enabled;
  to.ECCEnabled = from.ecc_enabled;
  to.tccDriver = from.tcc_driver;
  to.isLargeBar = from.is_large_bar;
  to.asicRevision = from.asic_revision;
  to.managedMemory = from.managed_memory;
  to.directManagedMemAccessFromHost = from.direct_managed_mem_access_from_host;
  to.concurrentManagedAccess = from.concurrent_managed_access;
  to.pageableMemoryAccess = from.pageable_memory_access;
  to.pageableMemoryAccessUsesHostPageTables = from.pageable_memory_access_uses_host_page_tables;
}

}  // namespace tf::proxy
