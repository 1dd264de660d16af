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
  // Before `stream` is used. One read, while nothing is late.
  hipError_t precede(hipStream_t stream) {
    return late_devices_.load(std::memory_order_acquire) == 0 ? hipSuccess
                                                              : order(stream);  // pairs with add()
  }
  // Returns when all is done: before access to memory changes, which no stream orders.
  hipError_t wait();
  // The device's context goes, and the work with it.
  void forget(int device);

 private:
  struct NullStream {
    hipEvent_t event = nullptr;  // behind its last such work; made on first use, it goes with the context
    bool late = false;           // nobody has seen that the event is done
  };

  hipError_t order(hipStream_t stream);
  void close(NullStream& null_stream) TF_REQUIRES(mutex_);

  std::atomic<int> late_devices_{0};
  Mutex mutex_;
  std::vector<NullStream> null_streams_ TF_GUARDED_BY(mutex_);  // by device
};

}  // namespace tf::cuda
