// SPDX-License-Identifier: Apache-2.0
// What is known of pairs of events.
#include "proxy/session/event_times.h"

namespace tf::proxy {

void EventTimes::learn(std::uint64_t start, std::uint64_t stop) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[entry_of(stop)];
  if (entry.pair.start != start || entry.pair.stop != stop) entry = {{.start = start, .stop = stop}};
}

std::uint64_t EventTimes::start_of(std::uint64_t stop) const {
  const MutexLock lock(mutex_);
  const Entry& entry = entries_[entry_of(stop)];
  return entry.pair.stop == stop ? entry.pair.start : 0;
}

void EventTimes::note(const Pair& pair) {
  const MutexLock lock(mutex_);
  entries_[entry_of(pair.stop)] = {pair, true};
}

std::optional<float> EventTimes::find(const EventRecordings& recordings, std::uint64_t start,
                                      std::uint64_t stop) const {
  const MutexLock lock(mutex_);
  const Entry& entry = entries_[entry_of(stop)];
  const bool is_known = entry.timed && entry.pair.start == start && entry.pair.stop == stop &&
                        recordings.is_unchanged(start, entry.pair.start_stamp) &&
                        recordings.is_unchanged(stop, entry.pair.stop_stamp);
  return is_known ? std::optional(entry.pair.milliseconds) : std::nullopt;
}

}  // namespace tf::proxy
