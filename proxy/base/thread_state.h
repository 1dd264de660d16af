// SPDX-License-Identifier: Apache-2.0
// What HIP keeps per application thread: last error, current device, launch configurations, contexts.
//
// Each thread has its own; nothing is shared. The last error is constant-initialised and trivially
// destructible, because static destructors call HIP after thread-local objects are gone.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "hipcore/abi/rules.h"
#include "hipcore/errors/on_error.h"

namespace tf::proxy {

inline constexpr std::size_t kCallConfigurationsMax = 16;  // nested <<<>>>, per thread
inline constexpr std::size_t kContextsMax = 32;            // hipCtxPushCurrent depth, per thread
inline constexpr std::size_t kThreadDevicesMax = 64;       // protocol::kDevicesMax
inline constexpr std::size_t kKnownKernels = 64;           // kernels that a thread launches alternately

struct CallConfiguration {
  dim3 grid{};
  dim3 block{};
  std::size_t shared_bytes = 0;
  hipStream_t stream = nullptr;
  std::size_t argument_bytes = 0;  // of hipSetupArgument
};

// A kernel of a compiled program that the thread has launched, cached from ModuleCache.
struct KnownKernel {
  const void* host_function = nullptr;
  std::uint64_t function = 0;
  std::uint64_t epoch = 0;  // ModuleCache's at the lookup
  int device = 0;
};

// An allocation that the thread has used, cached from DeviceMemory.
struct KnownRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t epoch = 0;  // DeviceMemory's at the lookup

  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

// A thread trusts what it cached from a shared table while the table's epoch is unchanged. No two epochs are
// equal, across all tables and sessions.
std::uint64_t next_epoch();

struct ThreadState {
  hipError_t last_error = hipSuccess;   // hipGetLastError's
  hipError_t last_result = hipSuccess;  // of the thread's last call
  int device = 0;
  bool has_chosen = false;  // a device, by hipSetDevice
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;  // kept for the program
  unsigned configuration_count = 0;
  unsigned context_count = 0;
  std::array<CallConfiguration, kCallConfigurationsMax> configurations{};
  std::array<int, kContextsMax> contexts{};                    // devices below the current one
  std::array<std::uint64_t, kThreadDevicesMax> own_streams{};  // hipStreamPerThread: handle, 0 = none yet
  std::array<KnownKernel, kKnownKernels> known_kernels{};
  KnownRange known_range;

  // The cache slot for this kernel.
  KnownKernel& known_kernel(const void* host_function) {
    const auto address = reinterpret_cast<std::uintptr_t>(host_function);
    return known_kernels[(address >> 4 ^ address >> 10) % kKnownKernels];
  }
};

namespace internal {
// The calling thread's state, after its first use. Not in the initial-exec model: that would take all of the
// library's thread-local memory from the small reserve that a process keeps for libraries loaded late.
extern constinit thread_local ThreadState* own_thread_state;
ThreadState& make_thread_state();
}  // namespace internal

inline ThreadState& thread_state() {
  ThreadState* const own = internal::own_thread_state;
  return own != nullptr ? *own : internal::make_thread_state();
}

// Until HIP 6 every call leaves its result as the thread's last error, success included.
inline hipError_t note_error(ThreadState& thread, hipError_t error) {
  thread.last_result = error;
  if (!abi::kRules.errors_stay || (error != hipSuccess && error != hipErrorNotReady))
    thread.last_error = error;
  if (error != hipSuccess) [[unlikely]]
    hipdata::tell_error(error);
  return error;
}

inline hipError_t note_error(hipError_t error) { return note_error(thread_state(), error); }

}  // namespace tf::proxy
