// SPDX-License-Identifier: Apache-2.0
// MetricFamily: metrics of one name, as Prometheus has them. Plain values: whoever has something to show
// fills them in, and worker/metrics makes text of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tf::worker {

struct MetricFamily {
  enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };
  struct Bucket {
    double bound = 0;           // the last one's is infinite
    std::uint64_t at_most = 0;  // observations up to the bound: cumulative
  };
  struct Sample {
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;             // kHistogram: the sum of all observations
    std::vector<Bucket> buckets;  // kHistogram
  };

  std::string name;  // with its unit, and "_total" where it is a counter
  std::string help;
  Type type = Type::kCounter;
  std::vector<Sample> samples;
};
using MetricFamilies = std::vector<MetricFamily>;

// What libhip_worker_metrics.so exports: the text exposition format, by prometheus-cpp.
using SerializeMetrics = void(const MetricFamilies& families, std::string& text);
inline constexpr const char* kMetricsLibrary = "libhip_worker_metrics.so";
inline constexpr const char* kSerializeMetrics = "hip_worker_serialize_metrics";

}  // namespace tf::worker
