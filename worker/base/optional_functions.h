// SPDX-License-Identifier: Apache-2.0
// Functions that a runtime may lack. Looked up by name (runtime_library.h); null if missing.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "worker/base/rtc_functions.h"
#include "worker/runtime/common/extensions.h"

namespace tf::worker {

struct VmmFunctions {
  // Of the client's range. The others are for leases, and their windows.
  decltype(&::hipMemAddressReserve) range_reserve = nullptr;
  decltype(&::hipMemAddressFree) range_free = nullptr;
  decltype(&::hipMemAddressReserve) address_reserve = nullptr;
  decltype(&::hipMemAddressFree) address_free = nullptr;
  decltype(&::hipMemCreate) create = nullptr;
  decltype(&::hipMemRelease) release = nullptr;
  decltype(&::hipMemMap) map = nullptr;
  decltype(&::hipMemUnmap) unmap = nullptr;
  decltype(&::hipMemSetAccess) set_access = nullptr;
  decltype(&::hipMemGetAllocationGranularity) granularity = nullptr;
  bool maps_parts = true;     // false: only whole handles
  bool ranges_apart = false;  // each of the client's ranges needs a reservation of its own

  bool complete() const {
    return address_reserve && address_free && create && release && map && unmap && set_access && granularity;
  }
};

// Surface objects. Up to HIP 5 their names are those of C++ functions.
struct SurfaceFunctions {
  decltype(&::hipCreateSurfaceObject) create = nullptr;
  decltype(&::hipDestroySurfaceObject) destroy = nullptr;
};

// hipExtModuleLaunchKernel, which counts threads: with other limits than hipModuleLaunchKernel.
using LaunchByThreads = hipError_t(hipFunction_t function, std::uint32_t global_x, std::uint32_t global_y,
                                   std::uint32_t global_z, std::uint32_t local_x, std::uint32_t local_y,
                                   std::uint32_t local_z, std::size_t shared_bytes, hipStream_t stream,
                                   void** arguments, void** extra, hipEvent_t start, hipEvent_t stop,
                                   std::uint32_t flags);

struct OptionalFunctions {
  VmmFunctions vmm;
  SurfaceFunctions surfaces;
  LaunchByThreads* launch_by_threads = nullptr;
  RtcFunctions rtc;
  // From later versions of HIP than our headers, or extensions of it (worker/runtime/common/extensions.h).
  decltype(&::hipMemGetHandleForAddressRange) range_handle = nullptr;
  decltype(&::hipExtMallocWithFlags) malloc_with_flags = nullptr;
  decltype(&::hipModuleGetFunctionCount) function_count = nullptr;
  decltype(&::hipRemoteCreateMaskedStream) create_masked_stream = nullptr;
  decltype(&::hipRemoteFollowNull) follow_null = nullptr;
  decltype(&::hipRemoteFlushWrites) flush_writes = nullptr;
  decltype(&::hipRemoteBindManaged) bind_managed = nullptr;
  decltype(&::hipRemoteEmptyHeap) empty_heap = nullptr;
  decltype(&::hipRemoteKernelParameter) kernel_parameter = nullptr;
  decltype(&::hipRemoteLaunchCooperative) launch_cooperative = nullptr;
  decltype(&::hipRemoteUnavailableReason) unavailable_reason = nullptr;
  decltype(&::hipRemoteTellFailures) tell_failures = nullptr;
  decltype(&::hipRemoteRunsOnHost) runs_on_host = nullptr;
  decltype(&::hipRemoteShowBusyTime) show_busy_time = nullptr;
  decltype(&::hipRemoteShareProcessors) share_processors = nullptr;
  decltype(&::hipRemoteShareEvent) share_event = nullptr;
  decltype(&::hipRemoteOpenSharedEvent) open_shared_event = nullptr;

  // The runtime is one of ours, and not a vendor's.
  bool is_ours() const { return bind_managed != nullptr; }
  // Events go to other processes as files.
  bool shares_events() const { return share_event != nullptr && open_shared_event != nullptr; }
};

}  // namespace tf::worker
