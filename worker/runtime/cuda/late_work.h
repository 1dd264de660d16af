// SPDX-License-Identifier: Apache-2.0
// LateWork: fills and copies of synchronous calls that the driver has not done when the call returns.
// Whatever is submitted after such a call, to any stream, runs after its work.
//
// The driver fills and copies on the null stream, with which non-blocking streams and those of other devices
// are not ordered. They wait for the work, on the device, when they are next used, as in the CPU runtime
// (worker/runtime/cpu/late_work.h). Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <vector>

#include "transport/base/mutex.h"

namespace tf::cuda {

class LateWork {
 public:
  // After the synchronous call. REQUIRES: the context of the thread's device is current
  hipError_t add();
  // Whether any work may be left. Every call that names a stream asks. Acquire pairs with add().
  static bool any() { return late_devices_.load(std::memory_order_acquire) != 0; }
  // Before `stream` is used, if any().
  hipError_t order(hipStream_t stream);
  // Returns when all is done: before access to memory changes, which no stream orders. Others may use streams
  // meanwhile: they may be what the work waits for.
  hipError_t wait();
  // The device's context goes, and the work with it.
  void forget(int device);

 private:
  struct NullStream {
    hipEvent_t event = nullptr;  // behind its last such work; made on first use, it goes with the context
    bool late = false;           // nobody has seen that the event is done
  };

  std::vector<hipEvent_t> late_events();
  void close(NullStream& null_stream) TF_REQUIRES(mutex_);

  inline static constinit std::atomic<int> late_devices_{0};  // of the one Runtime
  Mutex mutex_;
  std::vector<NullStream> null_streams_ TF_GUARDED_BY(mutex_);  // by device
};

}  // namespace tf::cuda
