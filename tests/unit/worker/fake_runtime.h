// SPDX-License-Identifier: Apache-2.0
// What tests see and set of the fake runtime: dlsym "fake_runtime_state" of the loaded library.
#pragma once

#include <atomic>

namespace tf::worker {

struct FakeRuntimeState {
  std::atomic<int> copies{0};      // hipMemcpyAsync and hipMemcpy2DAsync
  std::atomic<int> exports{0};     // hipMemGetHandleForAddressRange
  std::atomic<int> flushes{0};     // hipRemoteFlushWrites
  std::atomic<int> mask_words{0};  // of the last hipExtStreamCreateWithCUMask
  // Called with the address before memory goes.
  std::atomic<void (*)(void* address)> on_free{nullptr};
};

}  // namespace tf::worker

// Where memory of the device that the host may not address (FAKE_FAR) is seen.
extern "C" void* fake_runtime_seen(void* address);
extern "C" tf::worker::FakeRuntimeState* fake_runtime_state();
