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

}  // namespace tf::bench
