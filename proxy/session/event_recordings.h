// SPDX-License-Identifier: Apache-2.0
// EventRecordings: where and when this process recorded each event last.
//
// Recording is among the calls that must cost least, so a slot per event is written in place: `version` is
// odd while a thread writes, and a reader that saw it odd or changing reads again. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "hipcore/wire/handle.h"
#include "proxy/base/slot_table.h"

namespace tf::proxy {

struct EventRecording {
  bool recorded = false;
  bool shared = false;  // other processes record it too: only the worker knows where it is
  bool reached = false;
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t transfers = 0;  // Transfers::last_sequence() at that moment
};

class EventRecordings {
 public:
  // An event stays shared, whatever is recorded. REQUIRES for both: `event` is a handle in use
  void record(std::uint64_t event, int device, std::uint64_t stream, std::uint64_t transfers);
  void share(std::uint64_t event);
  // Nothing: neither recorded nor shared.
  std::optional<EventRecording> find(std::uint64_t event) const;

  // Around asking the worker whether the event's recording was reached: what was asked holds if nobody has
  // recorded it since. Recordings are noted when they have been posted, so that none passes between a
  // question and its answer unnoticed.
  using Question = std::uint32_t;
  Question ask(std::uint64_t event);
  void note_reached(std::uint64_t event, Question question);

 private:
  struct Slot {
    std::atomic<std::uint32_t> version{0};
    std::atomic<std::uint32_t> device_and_marks{0};
    std::atomic<std::uint64_t> event{0};  // whose: another handle of the same slot has no recording
    std::atomic<std::uint64_t> stream{0};
    std::atomic<std::uint64_t> transfers{0};
  };
  static constexpr std::uint32_t kRecorded = 1;
  static constexpr std::uint32_t kShared = 2;
  static constexpr std::uint32_t kAsked = 4;  // since it was recorded
  static constexpr std::uint32_t kReached = 8;
  static constexpr unsigned kDeviceShift = 4;

  Slot& slot_of(std::uint64_t event);
  static bool says(const Slot& slot, std::uint64_t event, int device, std::uint64_t stream,
                   std::uint64_t transfers);

  SlotTable<Slot, protocol::kHandleSlotsMax> slots_;
  std::mutex growing_;
};

}  // namespace tf::proxy
