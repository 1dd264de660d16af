// SPDX-License-Identifier: Apache-2.0
// The streams that exist. The driver would follow any pointer; a HIP program gets an error instead.
// Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "worker/runtime/common/compute_units.h"

namespace tf::cuda {

// The result of calls on a stream that does not exist (any more), as in AMD's runtime.
inline constexpr hipError_t kUnknownStream = hipErrorContextIsDestroyed;

namespace internal {
struct RecentStream {
  hipStream_t stream = nullptr;
  std::uint32_t ends = 0;
};
inline constexpr std::size_t kRecentStreams = 4;
extern constinit thread_local RecentStream recent_streams[kRecentStreams]
    __attribute__((tls_model("initial-exec")));
// How many streams have ended. Relaxed: who uses a stream that another thread ends has lost either way.
extern std::atomic<std::uint32_t> stream_ends;

inline RecentStream& recent_of(hipStream_t stream) {
  return recent_streams[reinterpret_cast<std::uintptr_t>(stream) / 64 % kRecentStreams];
}
bool find_stream(hipStream_t stream);
}  // namespace internal

// Two comparisons for a stream that this thread has used since the last one ended.
inline bool is_stream(hipStream_t stream) {
  if (!stream) return true;
  const internal::RecentStream& recent = internal::recent_of(stream);
  const bool is_recent =
      recent.stream == stream && recent.ends == internal::stream_ends.load(std::memory_order_relaxed);
  return is_recent || internal::find_stream(stream);
}

// How many streams have ended so far.
inline std::uint32_t stream_ends() { return internal::stream_ends.load(std::memory_order_relaxed); }

// `units`: nothing when the program gave no mask.
void add_stream(hipStream_t stream, int device, runtime::ComputeUnits units = {});
// Nothing for the streams that are no handles.
runtime::ComputeUnits compute_units_of(hipStream_t stream);
// -1 for the streams that are no handles.
int device_of(hipStream_t stream);
// False: there is none.
bool remove_stream(hipStream_t stream);
// All of a device whose context goes.
void remove_streams(int device);
// Tells the driver which are done. It waits for none.
void see_idle_streams();

}  // namespace tf::cuda
