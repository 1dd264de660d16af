// SPDX-License-Identifier: Apache-2.0
// Event: the last point at which it was recorded, and when the stream got there. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "worker/runtime/cpu/shared_event.h"
#include "worker/runtime/cpu/stream.h"

namespace tf::cpu {

class Event : public std::enable_shared_from_this<Event> {
 public:
  // `shared`: the state of an event of several processes, null for others.
  Event(int device, unsigned flags, std::shared_ptr<SharedEvent> shared = nullptr)
      : device_(device), flags_(flags), shared_(std::move(shared)) {}

  int device() const { return device_; }
  const std::shared_ptr<SharedEvent>& shared() const { return shared_; }
  bool timed() const { return !(flags_ & hipEventDisableTiming); }

  // Stamps the event when the stream gets there. Forgets the previous recording.
  void record(Stream& stream);
  // Makes the stream wait for the last recording.
  void hold(Stream& stream) const;
  // The point of the last recording by this process; done at once when there was none.
  Marker point() const;
  bool recorded() const;
  // An event that was reached is done, whatever came later; one that its device did not reach says why.
  hipError_t query() const;
  hipError_t synchronize() const;
  // When the stream got there; 0 when it has not, or nothing was recorded.
  std::uint64_t time_ns() const;

 private:
  void record_shared(Stream& stream);
  const int device_;
  const unsigned flags_;
  const std::shared_ptr<SharedEvent> shared_;
  void reach(std::uint64_t recording);
  // REQUIRES: mutex_ is held.
  void set_point(Stream& stream, std::uint64_t position);
  // REQUIRES: its stream has passed the last recording.
  hipError_t outcome() const;
  hipError_t failure() const;  // of its device

  mutable std::mutex mutex_;  // never held while something is submitted: a stream's thread takes it
  std::uint64_t recordings_ = 0;
  Marker point_;                // of the last recording
  std::uint64_t stamp_ns_ = 0;  // when that was reached; 0: not yet, or its device has failed before
};

}  // namespace tf::cpu
