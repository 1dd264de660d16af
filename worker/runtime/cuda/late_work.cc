// SPDX-License-Identifier: Apache-2.0
// What synchronous fills and copies leave to do, by an event on each null stream.
#include "worker/runtime/cuda/late_work.h"

#include <cstddef>

#include "worker/runtime/cuda/runtime.h"

namespace tf::cuda {

void LateWork::close(NullStream& null_stream) {
  if (!null_stream.late) return;
  null_stream.late = false;
  late_devices_.fetch_sub(1, std::memory_order_relaxed);
}

hipError_t LateWork::add() {
  const auto device = static_cast<std::size_t>(thread_state().device);
  const MutexLock lock(mutex_);
  if (null_streams_.size() <= device) null_streams_.resize(device + 1);
  NullStream& null_stream = null_streams_[device];
  if (!null_stream.event)
    if (const hipError_t error = check(cu().EventCreate(&null_stream.event, hipEventDisableTiming)))
      return error;
  if (const hipError_t error = check(cu().EventRecord(null_stream.event, nullptr))) return error;
  if (null_stream.late) return hipSuccess;
  null_stream.late = true;
  late_devices_.fetch_add(1, std::memory_order_release);
  return hipSuccess;
}

hipError_t LateWork::order(hipStream_t stream) {
  const auto own = static_cast<std::size_t>(thread_state().device);
  const MutexLock lock(mutex_);
  for (std::size_t device = 0; device < null_streams_.size(); ++device) {
    NullStream& null_stream = null_streams_[device];
    if (!null_stream.late) continue;
    if (cu().EventQuery(null_stream.event) == driver::Result::SUCCESS) {
      close(null_stream);
      continue;
    }
    if (!stream && device == own) continue;  // the same stream
    if (const hipError_t error = check(cu().StreamWaitEvent(stream, null_stream.event, 0))) return error;
  }
  return hipSuccess;
}

std::vector<hipEvent_t> LateWork::late_events() {
  std::vector<hipEvent_t> events;
  const MutexLock lock(mutex_);
  for (const NullStream& null_stream : null_streams_)
    if (null_stream.late) events.push_back(null_stream.event);
  return events;
}

hipError_t LateWork::wait() {
  for (const hipEvent_t event : late_events())
    if (const hipError_t error = check(cu().EventSynchronize(event))) return error;
  return hipSuccess;
}

void LateWork::forget(int device) {
  const auto index = static_cast<std::size_t>(device);
  const MutexLock lock(mutex_);
  if (index >= null_streams_.size()) return;
  close(null_streams_[index]);
  null_streams_[index].event = nullptr;
}

}  // namespace tf::cuda
