// SPDX-License-Identifier: Apache-2.0
// Event: where it was last recorded, and when the stream got there. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/shared_event.h"
#include "worker/runtime/cpu/stream.h"

namespace tf::cpu {

class Event : public std::enable_shared_from_this<Event> {
 public:
  // `shared`: the state of an event that several processes share; null for others.
  Event(int device, unsigned flags, std::shared_ptr<SharedEvent> shared = nullptr)
      : device_(device), flags_(flags), shared_(std::move(shared)) {}

  int device() const { return device_; }
  const std::shared_ptr<SharedEvent>& shared() const { return shared_; }
  bool timed() const { return !(flags_ & hipEventDisableTiming); }

  // Stamps the event when the stream gets there. Forgets the previous recording.
  void record(Stream& stream);
  // Makes the stream wait for the last recording.
  void hold(Stream& stream) const;
  // The point of the last recording by this process; counts as done if there was none.
  Marker point() const;
  bool recorded() const;
  // An event that was reached is done, whatever happened later. If its device failed before that, the result
  // says why.
  hipError_t query() const;
  hipError_t synchronize() const;
  // When the stream got there; 0 if it has not, or nothing was recorded.
  std::uint64_t time_ns() const;

 private:
  void record_shared(Stream& stream);
  const int device_;
  const unsigned flags_;
  const std::shared_ptr<SharedEvent> shared_;
  void reach(std::uint64_t recording);
  void set_point(Stream& stream, std::uint64_t position) TF_REQUIRES(mutex_);
  // REQUIRES: its stream has passed the last recording.
  hipError_t outcome() const;
  hipError_t failure() const;  // of its device

  mutable Mutex mutex_;  // never held while submitting: a stream's thread takes it
  std::uint64_t recordings_ TF_GUARDED_BY(mutex_) = 0;
  Marker point_ TF_GUARDED_BY(mutex_);  // of the last recording
  std::uint64_t stamp_ns_ TF_GUARDED_BY(mutex_) =
      0;  // when that was reached; 0: not yet, or its device failed first
};

}  // namespace tf::cpu
