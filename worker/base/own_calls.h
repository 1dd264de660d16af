// SPDX-License-Identifier: Apache-2.0
// OwnCalls: what the worker asks the runtime on its own account, and not to answer a request with the result:
// whether a stream is idle, an event for its staging, cleaning up.
//
// A HIP runtime tells of work that has failed to whoever calls it next, and some tell it once. Such an error
// is the program's. So the result of every call of that kind goes through here: an error of earlier work is
// sent to the client at once, as a Fault of its stream and ahead of every later reply, so that the next call
// that waits returns it; the worker goes on as if it had not been told. What a call says of itself (no
// memory, not supported) is its caller's to handle. `tests/tidy.py` refuses a result that is dropped in
// another way. Executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <functional>
#include <utility>

namespace tf::worker {

// Whether a runtime gives this code for work on the device that failed before the call, and not for the call.
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
  // `tell`: the client shall hear of a failure of earlier work of this stream, or, with the null stream, of
  // any.
  using Tell = std::function<void(hipError_t error, hipStream_t stream, int device)>;
  explicit OwnCalls(Tell tell) : tell_(std::move(tell)) {}
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

  // `result` of a call for `stream`, or for none: the current device's. Returns it.
  hipError_t keep(hipError_t result, hipStream_t stream = nullptr, int device = kCurrent) {
    if (is_of_earlier_work(result)) found(result, stream, device);
    return result;
  }
  // The same, where the result is of no other interest.
  void pass_on(hipError_t result, hipStream_t stream = nullptr, int device = kCurrent) {
    static_cast<void>(keep(result, stream, device));
  }
  // `result` of a question whether work is done. Every answer but yes and not yet is of the work.
  bool is_done(hipError_t result, hipStream_t stream, int device) {
    if (result == hipErrorNotReady) return false;
    if (result != hipSuccess) found(result, stream, device);
    return true;
  }
  // There is nobody to tell any more.
  void stop() { tell_ = nullptr; }

  static constexpr int kCurrent = -1;

 private:
  void found(hipError_t error, hipStream_t stream, int device) {
    if (tell_) tell_(error, stream, device);
  }

  Tell tell_;
};

}  // namespace tf::worker
