// SPDX-License-Identifier: Apache-2.0
// OwnCalls: the worker's own calls to the runtime, as opposed to those whose result answers a request:
// whether a stream is idle, an event for staging, cleaning up.
//
// A HIP runtime reports failed work from whichever call comes next, and some report it only once. Such an
// error belongs to the program. So the result of every call of our own goes through here. An error of earlier
// work is sent to the client at once, as a Fault of its stream and ahead of every later reply, so that the
// next call that waits returns it; the worker goes on as if it had not seen it. The caller handles errors of
// the call itself (no memory, not supported). `tests/tidy.py` refuses results that are dropped in any other
// way. Executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <functional>
#include <utility>

namespace tf::worker {

// Whether this code reports device work that failed before the call, and not the call itself.
constexpr bool is_of_earlier_work(hipError_t error) {
  switch (error) {
    case hipErrorECCNotCorrectable:
    case hipErrorIllegalAddress:
    case hipErrorLaunchTimeOut:
    case hipErrorAssert:
    case hipErrorLaunchFailure:
    case hipErrorRuntimeMemory:
    case hipErrorRuntimeOther:
    case hipErrorUnknown: return true;
    default: return false;
  }
}

class OwnCalls {
 public:
  // `tell`: reports to the client a failure of earlier work on this stream, or, with the null stream, on any.
  using Tell = std::function<void(hipError_t error, hipStream_t stream, int device)>;
  explicit OwnCalls(Tell tell) : tell_(std::move(tell)) {}
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

  // `result` of a call on `stream`, or on none: then the current device's. Returns it.
  hipError_t keep(hipError_t result, hipStream_t stream = nullptr, int device = kCurrent) {
    if (is_of_earlier_work(result)) found(result, stream, device);
    return result;
  }
  // The same, if the result does not matter otherwise.
  void pass_on(hipError_t result, hipStream_t stream = nullptr, int device = kCurrent) {
    static_cast<void>(keep(result, stream, device));
  }
  // `result` of a query whether work is done. Every answer except "done" and "not ready" concerns the work.
  bool is_done(hipError_t result, hipStream_t stream, int device) {
    if (result == hipErrorNotReady) return false;
    if (result != hipSuccess) found(result, stream, device);
    return true;
  }
  // There is no client to tell any more.
  void stop() { tell_ = nullptr; }

  static constexpr int kCurrent = -1;

 private:
  void found(hipError_t error, hipStream_t stream, int device) {
    if (tell_) tell_(error, stream, device);
  }

  Tell tell_;
};

}  // namespace tf::worker
