// SPDX-License-Identifier: Apache-2.0
// Streams: what this process knows of its streams: their order, the events recorded on them, the work and the
// copies that are left on them, and the failures that nobody has been told of. Asks the worker nothing. Any
// thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hipcore/wire/handle.h"
#include "proxy/base/handles.h"
#include "proxy/session/event_recordings.h"
#include "proxy/session/event_times.h"
#include "proxy/session/faults.h"
#include "proxy/session/kernel_output.h"
#include "proxy/session/pending_work.h"
#include "proxy/session/transfers.h"
#include "transport/request_queue.h"

namespace tf::proxy {

class Streams {
 public:
  Streams(RequestQueue& queue, Handles& handles)
      : streams_(handles.of(protocol::HandleKind::kStream)),
        events_(handles.of(protocol::HandleKind::kEvent)),
        transfers_(queue, faults_) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  Faults& faults() { return faults_; }
  Transfers& transfers() { return transfers_; }
  PendingWork& pending_work() { return pending_work_; }
  KernelOutput& output() { return output_; }
  // Whether nothing is left to wait for: no work, and no output of it. PendingWork::quiet(), idle().
  bool quiet() const { return pending_work_.quiet() && !output_.outstanding(); }
  bool idle() const { return pending_work_.idle() && !output_.outstanding(); }
  EventRecordings& recordings() { return recordings_; }
  EventTimes& times() { return times_; }

  // The device that work on `stream` runs on. `device`, here and below: of the calling thread.
  int device_of(int device, std::uint64_t stream) const {
    return protocol::Handle(stream).is_constant() ? device : streams_.device(stream);
  }
  // Whether the stream is ordered with the null stream, or is the null stream.
  bool is_blocking(std::uint64_t stream) const;
  // A stream that does not wait for the null stream may exist (hipStreamNonBlocking).
  bool has_unordered() const { return has_unordered_.load(std::memory_order_relaxed); }  // see note_new()

  // Call it after posting: records what the request leaves behind.
  void note_posted(int device, const Trace& trace) {
    pending_work_.note(device, trace);
    if (trace.leaves != Leaves::kNothing && trace.stream == 0) transfers_.note_null_work(device);
  }
  // A request is about to be posted that makes `stream` wait for the event, or creates the stream.
  void note_join(int device, std::uint64_t stream, std::uint64_t event);
  void note_new(std::uint64_t stream, unsigned flags);
  // Event and stream are of the same device, as recording needs.
  bool may_record(std::uint64_t event, int device, std::uint64_t stream) const {
    return events_.device(event) == device_of(device, stream);
  }
  // Behind the message that records: see EventRecordings::ask().
  void note_recording(std::uint64_t event, int device, std::uint64_t stream) {
    recordings_.record(event, device, stream, transfers_.last_sequence(), owed_waits(device));
  }

  // A synchronous copy on the device's null stream returns before earlier work is over, which it waits for
  // natively: who asks about that work has to wait for it (PendingWork::owe()). REQUIRES: !has_unordered()
  void owe_wait(int device);
  // A synchronous copy on the device's null stream returns before it is over. Only blocking streams are
  // ordered behind it.
  void leave_copy(int device) {
    std::atomic<bool>& left = left_copies_[static_cast<std::size_t>(device)];
    if (!left.load(std::memory_order_relaxed)) left.store(true, std::memory_order_relaxed);
  }
  // Such a copy may not be over.
  bool may_have_left_copy(int device) const {
    return left_copies_[static_cast<std::size_t>(device)].load(std::memory_order_relaxed) &&
           pending_work_.may_have_device_work(PendingWork::mark_of(device, 0));
  }
  // Whether a program that asks for the stream also asks for what the null stream of its device has
  // (Rules::follows_null), and some of that may be left.
  bool asks_for_null(int device, std::uint64_t stream) const;
  // Whether to wait instead of asking: for the stream, or for the event of this recording.
  bool owes_wait(int device, std::uint64_t stream) const;
  bool owes_wait(const EventRecording& recording) const {
    return recording.recorded && recording.owed_waits != owed_waits(recording.device);
  }

  // All that the stream's work and what is ordered before it can be is bytes on their way to device memory: a
  // wait for it shows the program nothing.
  bool only_arrivals(int device, std::uint64_t stream) const;

  // The copies left running that are done when the stream reaches `through` (transfers.h): lists them, or
  // waits for them.
  std::vector<Reach> copies_of(int device, std::uint64_t stream, std::uint64_t through = UINT64_MAX) {
    if (transfers_.none_running()) return {};
    return transfers_.reach(device_of(device, stream), stream, is_blocking(stream), through);
  }
  void await_copies(int device, std::uint64_t stream, std::uint64_t through = UINT64_MAX) {
    transfers_.await(copies_of(device, stream, through));
  }
  // A transfer that a call leaves running (Transfers::add(), add_packed()). `target`: the memory it writes.
  std::shared_ptr<Transfer> transfer_on(int device, std::uint64_t stream, std::span<std::byte> target = {}) {
    return transfers_.add({device_of(device, stream), stream, is_blocking(stream), target});
  }
  std::shared_ptr<Transfer> packed_transfer_on(int device, std::uint64_t stream, std::uint64_t bytes,
                                               std::span<std::byte> target = {}) {
    return transfers_.add_packed({device_of(device, stream), stream, is_blocking(stream), target}, bytes);
  }

 private:
  std::uint64_t owed_waits(int device) const {
    return owed_waits_[static_cast<std::size_t>(device)].load(std::memory_order_relaxed);  // the thread's own
  }
  // Whether the mark (PendingWork::mark_of()) is of a stream of the device.
  bool is_on(int device, std::uint64_t mark) const;

  HandleTable& streams_;
  HandleTable& events_;
  EventRecordings recordings_;
  EventTimes times_;
  Faults faults_;
  Transfers transfers_;
  PendingWork pending_work_;
  KernelOutput output_;
  // Set before the creating message is queued; any thread that uses the stream got its handle after that.
  std::atomic<bool> has_unordered_{false};
  std::array<std::atomic<std::uint64_t>, protocol::kDevicesMax> owed_waits_{};  // numbers of calls
  std::array<std::atomic<bool>, protocol::kDevicesMax> left_copies_{};  // the thread's own, or of before
};

}  // namespace tf::proxy
