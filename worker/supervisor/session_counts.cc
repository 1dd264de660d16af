// SPDX-License-Identifier: Apache-2.0
// Reads what sessions have counted, and says how much of it is believed.
#include "worker/supervisor/session_counts.h"

#include <algorithm>
#include <limits>

namespace tf::worker {
namespace {

constexpr std::uint64_t kBytesPerNanosecond = 1000;  // a terabyte in a second
constexpr std::uint64_t kOthersPerNanosecond = 1;    // calls, refusals, faults, waits
// Time of waits: as many can wait at a time as there are threads and polled waits for them, and some.
constexpr std::uint64_t kWaitsAtATime = 2000;

std::uint64_t per_nanosecond(std::size_t index) {
  if (index == SessionCounts::kWaitTotal) return kWaitsAtATime;
  return index >= SessionCounts::kBytes && index < SessionCounts::kRefused ? kBytesPerNanosecond
                                                                           : kOthersPerNanosecond;
}

std::uint64_t sum(std::uint64_t one, std::uint64_t other) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return one > kMost - other ? kMost : one + other;
}

}  // namespace

std::uint64_t SessionCounts::round_trips() const {
  std::uint64_t count = 0;
  for (std::size_t domain = 0; domain < kCallDomains; ++domain) count = sum(count, calls(domain, false));
  return count;
}

std::uint64_t SessionCounts::all_calls() const {
  std::uint64_t count = round_trips();
  for (std::size_t domain = 0; domain < kCallDomains; ++domain) count = sum(count, calls(domain, true));
  return count;
}

SessionCounts& SessionCounts::operator+=(const SessionCounts& other) {
  for (std::size_t index = 0; index < kEnd; ++index) values[index] = sum(values[index], other.values[index]);
  return *this;
}

SessionCounts read_counts(const SessionTally& tally) {
  SessionCounts counts;
  std::size_t index = 0;
  const auto take = [&](const SessionTally::Number& number) {
    counts.values[index++] = number.load(std::memory_order_relaxed);
  };
  for (const auto& domain : tally.calls) std::ranges::for_each(domain, take);
  take(tally.message_bytes_to_worker);
  take(tally.message_bytes_to_client);
  take(tally.payload_bytes_to_worker);
  take(tally.payload_bytes_to_client);
  std::ranges::for_each(tally.refused, take);
  std::ranges::for_each(tally.faults, take);
  std::ranges::for_each(tally.device_waits.counts, take);
  take(tally.device_waits.total_ns);
  return counts;
}

SessionCounts BelievedCounts::take(const SessionCounts& said, Clock::time_point now) {
  // A session that has just begun may have done something already.
  const auto passed = std::clamp<std::int64_t>((now - looked_).count(), 1'000'000, 1'000'000'000'000);
  looked_ = now;
  SessionCounts fresh;
  for (std::size_t index = 0; index < SessionCounts::kEnd; ++index) {
    std::uint64_t& seen = seen_.values[index];
    if (said.values[index] <= seen) continue;
    const std::uint64_t most = static_cast<std::uint64_t>(passed) * per_nanosecond(index);
    fresh.values[index] = std::min(said.values[index] - seen, most);
    seen += fresh.values[index];
  }
  return fresh;
}

}  // namespace tf::worker
