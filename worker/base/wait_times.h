// SPDX-License-Identifier: Apache-2.0
// WaitTimes: how long waits took, counted by length: a histogram whose bounds are powers of four, from a
// microsecond to 17 seconds. Any thread may add; all of it is relaxed, as nothing else depends on it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tf::worker {

struct WaitTimes {
  static constexpr std::size_t kBuckets = 14;  // the last one has no upper bound

  std::array<std::atomic<std::uint64_t>, kBuckets> counts{};  // of each bucket alone
  std::atomic<std::uint64_t> total_ns{0};

  // The least bucket whose bound is not below `waited`.
  static std::size_t bucket_of(std::uint64_t waited_ns) {
    if (waited_ns == 0) return 0;
    const auto digits = static_cast<std::size_t>(std::bit_width((waited_ns - 1) / 1000));
    return std::min((digits + 1) / 2, kBuckets - 1);
  }
  // REQUIRES: bucket + 1 < kBuckets
  static double bound_seconds(std::size_t bucket) {
    return static_cast<double>(std::uint64_t{1} << (2 * bucket)) / 1e6;
  }

  void note(std::chrono::nanoseconds waited) {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(waited.count(), 0));
    counts[bucket_of(nanoseconds)].fetch_add(1, std::memory_order_relaxed);
    total_ns.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
};

}  // namespace tf::worker
