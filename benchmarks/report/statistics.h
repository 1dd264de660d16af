// SPDX-License-Identifier: Apache-2.0
// Samples of one measured quantity and their order statistics.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace tf::bench {

class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  void add(const Samples& more) { values_.insert(values_.end(), more.values_.begin(), more.values_.end()); }
  std::size_t count() const { return values_.size(); }
  // 0 <= fraction <= 1; nearest rank. REQUIRES: count() > 0
  double quantile(double fraction) const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    auto rank = static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1) + 0.5);
    return sorted[rank];
  }
  double median() const { return quantile(0.5); }

 private:
  std::vector<double> values_;
};

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds of one execution of `body`.
template <typename Body>
double timed(Body&& body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return seconds_since(start);
}

// Repeats `body` (seconds per execution as samples) until `budget_s` is spent, between the two counts.
template <typename Body>
Samples repeat(double budget_s, std::size_t count_min, std::size_t count_max, Body&& body) {
  Samples samples;
  auto start = std::chrono::steady_clock::now();
  while (samples.count() < count_max && (samples.count() < count_min || seconds_since(start) < budget_s))
    samples.add(timed(body));
  return samples;
}

// The time of a short operation: the median over batches, where the cost of the clock does not matter, and
// the tail of single executions.
struct ShortOperation {
  double median_s = 0;
  double p99_s = 0;
};
template <typename Body>
ShortOperation measure_short(double budget_s, Body&& body) {
  constexpr int kBatch = 100;
  const Samples batches = repeat(budget_s / 2, 10, 1'000'000, [&] {
    for (int execution = 0; execution < kBatch; ++execution) body();
  });
  const Samples single = repeat(budget_s / 2, 1000, 1'000'000, body);
  return {batches.median() / kBatch, single.quantile(0.99)};
}

template <typename Found>
struct Beside {
  Found found;
  double limit = 0;
};

// Measures between two measurements of its limit, up to four times, until the limit has stayed within a
// factor of 1.5 meanwhile: the host of a virtual machine moves its processors between caches, and a cache
// line then takes four times as long (docs/performance-log.md, 2026-12-01). Gives the last one, and the mean
// of its limits.
template <typename Limit, typename Measure>
auto measure_beside(Limit&& limit, Measure&& measure) {
  constexpr int kAttemptsMax = 4;
  constexpr double kMoved = 1.5;
  double before = limit();
  for (int attempt = 1;; ++attempt) {
    auto found = measure();
    const double after = limit();
    const bool stayed = std::max(before, after) <= kMoved * std::min(before, after);
    if (stayed || attempt == kAttemptsMax) return Beside<decltype(found)>{found, (before + after) / 2};
    before = after;
  }
}

}  // namespace tf::bench
