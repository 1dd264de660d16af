// SPDX-License-Identifier: Apache-2.0
// EventRecordings: where and when this process last recorded each event.
//
// Recording must be as cheap as possible, so each event has a slot that is written in place (a seqlock):
// `version` is odd while a thread writes, and a reader that saw it odd or changing reads again. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "hipcore/wire/handle.h"
#include "proxy/base/slot_table.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

struct EventRecording {
  bool recorded = false;
  bool shared = false;  // other processes record it too: only the worker knows where it is
  bool reached = false;
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t transfers = 0;   // Transfers::last_sequence() at that moment
  std::uint64_t owed_waits = 0;  // Streams::owed_waits() of the device at that moment
};

class EventRecordings {
 public:
  // A shared event stays shared, whatever is recorded. REQUIRES for both: `event` is a handle in use
  void record(std::uint64_t event, int device, std::uint64_t stream, std::uint64_t transfers,
              std::uint64_t owed_waits);
  void share(std::uint64_t event);
  // Nothing: neither recorded nor shared.
  std::optional<EventRecording> find(std::uint64_t event) const;

  // Call these before and after asking the worker whether the event's recording was reached: the answer holds
  // if nobody has recorded the event since. Recordings are noted after they were posted, so none slips
  // unnoticed between question and answer.
  using Question = std::uint32_t;
  Question ask(std::uint64_t event);
  // Returns a stamp of that recording; nothing: it was recorded or reached otherwise in between.
  std::optional<Question> note_reached(std::uint64_t event, Question question);
  // The event's last recording is the one of this stamp.
  bool is_unchanged(std::uint64_t event, Question stamp) const;

 private:
  struct Slot {
    std::atomic<std::uint32_t> version{0};
    std::atomic<std::uint32_t> device_and_marks{0};
    std::atomic<std::uint64_t> event{0};  // the owner: another handle of the same slot has no recording
    std::atomic<std::uint64_t> stream{0};
    std::atomic<std::uint64_t> transfers{0};
    std::atomic<std::uint64_t> owed_waits{0};
  };
  static constexpr std::uint32_t kRecorded = 1;
  static constexpr std::uint32_t kShared = 2;
  static constexpr std::uint32_t kAsked = 4;  // since it was recorded
  static constexpr std::uint32_t kReached = 8;
  static constexpr unsigned kDeviceShift = 4;

  Slot& slot_of(std::uint64_t event);
  static bool says(const Slot& slot, std::uint64_t event, int device, std::uint64_t stream,
                   std::uint64_t transfers, std::uint64_t owed_waits);

  SlotTable<Slot, protocol::kHandleSlotsMax> slots_;
  Mutex growing_;
};

}  // namespace tf::proxy
