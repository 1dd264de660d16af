// SPDX-License-Identifier: Apache-2.0
// What HIP keeps per application thread: last error, current device, launch configurations, contexts.
//
// Each thread has its own; nothing here is shared. Constant-initialised and trivially destructible where the
// last error is concerned, because static destructors call HIP after thread-local objects are gone.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tf::proxy {

inline constexpr std::size_t kCallConfigurationsMax = 16;  // nested <<<>>> of one thread
inline constexpr std::size_t kContextsMax = 32;            // hipCtxPushCurrent depth of one thread
inline constexpr std::size_t kThreadDevicesMax = 64;       // protocol::kDevicesMax
inline constexpr std::size_t kKnownKernels = 64;           // kernels that one thread launches in turn

struct CallConfiguration {
  dim3 grid{};
  dim3 block{};
  std::size_t shared_bytes = 0;
  hipStream_t stream = nullptr;
};

// A kernel of a compiled program that the thread has launched, as ModuleCache knows it.
struct KnownKernel {
  const void* host_function = nullptr;
  std::uint64_t function = 0;
  std::uint64_t epoch = 0;  // of ModuleCache, when it was looked up
  int device = 0;
};

// An allocation that the thread has used, as DeviceMemory knows it.
struct KnownRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t epoch = 0;  // of DeviceMemory, when it was looked up

  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

// What threads keep of a shared table they believe while its epoch is the one they saw. No two epochs are the
// same, of whatever table or session.
std::uint64_t next_epoch();

struct ThreadState {
  hipError_t last_error = hipSuccess;
  int device = 0;
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;  // kept for the program
  unsigned configuration_count = 0;
  unsigned context_count = 0;
  std::array<CallConfiguration, kCallConfigurationsMax> configurations{};
  std::array<int, kContextsMax> contexts{};                    // devices below the current one
  std::array<std::uint64_t, kThreadDevicesMax> own_streams{};  // hipStreamPerThread: handle, 0 = none yet
  std::array<KnownKernel, kKnownKernels> known_kernels{};
  KnownRange known_range;

  // Where the kernel is kept, if it is.
  KnownKernel& known_kernel(const void* host_function) {
    const auto address = reinterpret_cast<std::uintptr_t>(host_function);
    return known_kernels[(address >> 4 ^ address >> 10) % kKnownKernels];
  }
};

namespace internal {
// The calling thread's state once it has asked for it. Not of the initial-exec model: that would take all of
// the library's thread-local memory from the little that a process keeps for libraries loaded late.
extern constinit thread_local ThreadState* own_thread_state;
ThreadState& make_thread_state();
}  // namespace internal

inline ThreadState& thread_state() {
  ThreadState* const own = internal::own_thread_state;
  return own != nullptr ? *own : internal::make_thread_state();
}

// HIP 5: every call leaves its result as the thread's last error, success included.
inline hipError_t note_error(hipError_t error) {
  thread_state().last_error = error;
  return error;
}

}  // namespace tf::proxy
