// SPDX-License-Identifier: Apache-2.0
// A CUDA driver that remembers what it was asked: a library for HIP_CUDA_DRIVER. Every function counts its
// calls and succeeds; those that tests need do a little more. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "worker/runtime/cuda/driver_types.h"

namespace tf::fake_cuda {

struct Launch {
  hipFunction_t function = nullptr;
  unsigned shape[6] = {};
  unsigned shared_bytes = 0;
  hipStream_t stream = nullptr;
  void** arguments = nullptr;
  std::vector<void*> extra;  // with its end
  bool is_cooperative = false;
};

struct HostCall {  // of LaunchHostFunc; the test runs it
  cuda::driver::HostFunction function = nullptr;
  void* data = nullptr;
  hipStream_t stream = nullptr;
  hipCtx_t context = nullptr;  // that was current
};

struct Node {  // of the graph made last
  std::string name;
  std::vector<int> before;  // numbers from 1 on
};

struct State {
  static constexpr int kDevices = 2;
  static constexpr int kSharedMax = 232448;  // bytes; of a device for which a kernel asks
  static constexpr int kStaticShared = 1024;
  static constexpr std::uintptr_t kFirstStream = 0x8800;
  static constexpr std::uintptr_t kFirstEvent = 0x9900;
  static constexpr std::uintptr_t kAllocation = 0x4000;  // where every allocation begins
  static constexpr std::size_t kAllocation_bytes = 4096;
  static constexpr std::uint64_t kBufferId = 0x1'0000'0007;
  static constexpr unsigned kFunctions = 3;      // of every module
  static constexpr std::size_t kParameters = 2;  // of every kernel: ints, 8 bytes apart

  std::map<std::string, int> calls;                      // by name without cu
  std::map<std::string, cuda::driver::Result> failures;  // answered in place of success
  std::vector<Launch> launches;
  std::vector<HostCall> host_calls;
  int threads_max = 1024;             // of every kernel
  int dynamic_shared_max = 47 << 10;  // of every kernel
  hipCtx_t current = nullptr;
  std::vector<hipCtx_t> synchronized;  // by CtxSynchronize
  std::string image;                   // the last one loaded, as text
  cuda::driver::Copy2D copy_2d{};
  cuda::driver::Copy3D copy_3d{};
  std::vector<void*> filled;  // starts of MemsetD2D8
  std::vector<std::size_t> filled_rows;
  cuda::driver::KernelNode kernel_node{};
  cuda::driver::FillNode fill_node{};
  hipCtx_t fill_context = nullptr;
  std::vector<hipStreamBatchMemOpParams> batch;  // of the batch node
  hipCtx_t batch_context = nullptr;
  int first_argument = 0;  // of the kernel node
  std::vector<Node> nodes;
  int streams = 0;
  int events = 0;                   // created
  std::uint64_t pool_bytes = 0;     // what every pool says of itself
  hipCtx_t allocated_in = nullptr;  // the context of MemAlloc
  void* closed = nullptr;           // by IpcCloseMemHandle
  unsigned host_flags = 0;
  std::map<int, int> attributes;                    // of every device, besides those that tests seldom change
  cuda::driver::AllocationProperties physical{};    // of MemCreate
  cuda::driver::AllocationProperties granular{};    // of MemGetAllocationGranularity
  char managed_memory[64] = {};                     // of MemAllocManaged; the host reaches it
  int managed = 0;                                  // every allocation is
  int place = hipInvalidDeviceId;                   // where memory was advised to be
  int range_type = 0;                               // of MemGetHandleForAddressRange
  static constexpr int kRangeHandle = 77;           // its descriptor
  static constexpr std::size_t kSurfaceMax = 1024;  // elements of a row; textures may be larger
  static constexpr std::uintptr_t kArray = 0xa000;  // every array
  static constexpr std::uintptr_t kMipmapped = 0xb000;  // every mipmapped one, its levels follow
  static constexpr std::uintptr_t kTexture = 0xc000;    // every texture and surface object
  cuda::driver::ArrayDescription array{};
  cuda::driver::ResourceDescription resource{};
  cuda::driver::TextureDescription sampling{};
  void** link_values = nullptr;  // of LinkCreate, which a driver uses until LinkDestroy
  void* link_log = nullptr;      // the first of them
  int flush_scope = 0;
  hipCtx_t flushed = nullptr;  // the context that was current
};

}  // namespace tf::fake_cuda

// Of the loaded library; lives as long as it.
extern "C" tf::fake_cuda::State* fake_cuda_state();
