// SPDX-License-Identifier: Apache-2.0
// Where each event was recorded last.
#include "proxy/session/event_recordings.h"

#include <thread>

#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

// Holds a slot for writing. Acquire: sees what the last writer stored. Release: pairs with find()'s loads.
class Writing {
 public:
  explicit Writing(std::atomic<std::uint32_t>& version) : version_(version) {
    for (;;) {
      before_ = version_.load(std::memory_order_relaxed);
      if (before_ % 2 == 0 && version_.compare_exchange_weak(before_, before_ + 1, std::memory_order_acq_rel))
        return;
      if (before_ % 2 != 0) std::this_thread::yield();  // another thread records the same event
    }
  }
  ~Writing() { version_.store(after(), std::memory_order_release); }
  std::uint32_t after() const { return before_ + 2; }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  std::atomic<std::uint32_t>& version_;
  std::uint32_t before_ = 0;
};

}  // namespace

// Most events are recorded on the same stream again and again: nothing to write then.
bool EventRecordings::says(const Slot& slot, std::uint64_t event, int device, std::uint64_t stream,
                           std::uint64_t transfers, std::uint64_t owed_waits) {
  const std::uint32_t before = slot.version.load(std::memory_order_acquire);
  const std::uint32_t marks = static_cast<std::uint32_t>(device) << kDeviceShift | kRecorded;
  // Acquire: the version is read again only after these.
  const bool same = slot.event.load(std::memory_order_acquire) == event &&
                    slot.stream.load(std::memory_order_acquire) == stream &&
                    slot.transfers.load(std::memory_order_acquire) == transfers &&
                    slot.owed_waits.load(std::memory_order_acquire) == owed_waits &&
                    (slot.device_and_marks.load(std::memory_order_acquire) & ~kShared) == marks;
  return same && before % 2 == 0 && slot.version.load(std::memory_order_relaxed) == before;
}

EventRecordings::Slot& EventRecordings::slot_of(std::uint64_t event) {
  const std::size_t index = protocol::Handle(event).index();
  if (Slot* slot = slots_.find(index)) return *slot;
  const MutexLock lock(growing_);
  return slots_.grow(index);
}

void EventRecordings::record(std::uint64_t event, int device, std::uint64_t stream, std::uint64_t transfers,
                             std::uint64_t owed_waits) {
  Slot& slot = slot_of(event);
  if (says(slot, event, device, stream, transfers, owed_waits)) return;
  const Writing writing(slot.version);
  // Stores are releases, so that a reader that sees one of them sees the odd version.
  const std::uint32_t marks = slot.event.load(std::memory_order_relaxed) == event
                                  ? slot.device_and_marks.load(std::memory_order_relaxed) & kShared
                                  : 0;
  slot.event.store(event, std::memory_order_release);
  slot.stream.store(stream, std::memory_order_release);
  slot.transfers.store(transfers, std::memory_order_release);
  slot.owed_waits.store(owed_waits, std::memory_order_release);
  slot.device_and_marks.store(static_cast<std::uint32_t>(device) << kDeviceShift | kRecorded | marks,
                              std::memory_order_release);
}

void EventRecordings::share(std::uint64_t event) {
  Slot& slot = slot_of(event);
  const Writing writing(slot.version);
  if (slot.event.load(std::memory_order_relaxed) != event) {
    slot.event.store(event, std::memory_order_release);
    slot.device_and_marks.store(0, std::memory_order_release);
  }
  const std::uint32_t marks = slot.device_and_marks.load(std::memory_order_relaxed);
  slot.device_and_marks.store(marks | kShared, std::memory_order_release);
}

EventRecordings::Question EventRecordings::ask(std::uint64_t event) {
  Slot& slot = slot_of(event);
  const std::uint32_t before = slot.version.load(std::memory_order_acquire);
  // Repeated or concurrent questions write nothing.
  const bool asked = (slot.device_and_marks.load(std::memory_order_acquire) & kAsked) != 0 &&
                     slot.event.load(std::memory_order_acquire) == event;
  if (asked && before % 2 == 0 && slot.version.load(std::memory_order_relaxed) == before) return before;
  const Writing writing(slot.version);
  if (slot.event.load(std::memory_order_relaxed) == event)
    slot.device_and_marks.store(slot.device_and_marks.load(std::memory_order_relaxed) | kAsked,
                                std::memory_order_release);
  return writing.after();
}

std::optional<EventRecordings::Question> EventRecordings::note_reached(std::uint64_t event,
                                                                       Question question) {
  Slot& slot = slot_of(event);
  constexpr std::uint32_t kBoth = kAsked | kReached;
  // Noted already: nothing to write, and earlier stamps stay true.
  const bool noted = (slot.device_and_marks.load(std::memory_order_acquire) & kBoth) == kBoth;
  if (noted && is_unchanged(event, question)) return question;
  std::uint32_t expected = question;
  if (!slot.version.compare_exchange_strong(expected, question + 1, std::memory_order_acq_rel))
    return std::nullopt;
  const std::uint32_t marks = slot.device_and_marks.load(std::memory_order_relaxed);
  // The marks distinguish recordings from questions: a record() that finds them changed writes, and so is
  // seen here.
  const bool is_its = slot.event.load(std::memory_order_relaxed) == event && (marks & kAsked) != 0;
  if (is_its) slot.device_and_marks.store(marks | kReached, std::memory_order_release);
  slot.version.store(question + 2, std::memory_order_release);
  return is_its ? std::optional(question + 2) : std::nullopt;
}

bool EventRecordings::is_unchanged(std::uint64_t event, Question stamp) const {
  const Slot* slot = slots_.find(protocol::Handle(event).index());
  // Acquire: the version is read after it.
  return slot != nullptr && slot->event.load(std::memory_order_acquire) == event &&
         slot->version.load(std::memory_order_acquire) == stamp;
}

std::optional<EventRecording> EventRecordings::find(std::uint64_t event) const {
  const Slot* slot = slots_.find(protocol::Handle(event).index());
  if (slot == nullptr) return std::nullopt;
  for (;;) {
    const std::uint32_t before = slot->version.load(std::memory_order_acquire);
    // Acquire: the version is read again only after these.
    const std::uint64_t whose = slot->event.load(std::memory_order_acquire);
    const std::uint32_t marks = slot->device_and_marks.load(std::memory_order_acquire);
    EventRecording recording{(marks & kRecorded) != 0,
                             (marks & kShared) != 0,
                             (marks & kReached) != 0,
                             static_cast<int>(marks >> kDeviceShift),
                             slot->stream.load(std::memory_order_acquire),
                             slot->transfers.load(std::memory_order_acquire),
                             slot->owed_waits.load(std::memory_order_acquire)};
    if (before % 2 == 0 && slot->version.load(std::memory_order_relaxed) == before)
      return whose == event ? std::optional(recording) : std::nullopt;
    std::this_thread::yield();
  }
}

}  // namespace tf::proxy
