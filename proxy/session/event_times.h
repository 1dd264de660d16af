// SPDX-License-Identifier: Apache-2.0
// EventTimes: times between two events that came with the answer to a wait for the second one.
//
// A program that measures waits for the stop event and then asks for the time since the start. So the wait
// names the start that the program asked about last, and its answer has the time. The time holds until one of
// the two events is recorded again. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "proxy/session/event_recordings.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class EventTimes {
 public:
  // The program has asked for the time from `start` to `stop`.
  void learn(std::uint64_t start, std::uint64_t stop);
  // The start that was asked for last together with this stop; 0: none, or so long ago that it is forgotten.
  std::uint64_t start_of(std::uint64_t stop) const;

  struct Pair {
    std::uint64_t start = 0;
    std::uint64_t stop = 0;
    // Of the recordings that the time lies between (EventRecordings::note_reached()).
    EventRecordings::Question start_stamp = 0;
    EventRecordings::Question stop_stamp = 0;
    float milliseconds = 0;
  };
  void note(const Pair& pair);
  // Nothing: it is not known, or not of the last recordings.
  std::optional<float> find(const EventRecordings& recordings, std::uint64_t start, std::uint64_t stop) const;

 private:
  // Programs measure with a few pairs; with more, some share an entry and ask the worker.
  static constexpr std::size_t kEntries = 64;
  struct Entry {
    Pair pair;
    bool timed = false;
  };
  static std::size_t entry_of(std::uint64_t stop) { return protocol::Handle(stop).index() % kEntries; }

  mutable Mutex mutex_;
  std::array<Entry, kEntries> entries_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::proxy
