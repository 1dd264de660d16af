// SPDX-License-Identifier: Apache-2.0
// Makes Prometheus' text of metrics, with prometheus-cpp. A library of its own, which only a supervisor with
// --metrics loads: neither session processes nor workers without metrics need prometheus-cpp.
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <string>
#include <utility>
#include <vector>

#include "worker/base/metric_family.h"

namespace tf::worker {
namespace {

prometheus::MetricType type_of(MetricFamily::Type type) {
  switch (type) {
    case MetricFamily::Type::kCounter: return prometheus::MetricType::Counter;
    case MetricFamily::Type::kGauge: return prometheus::MetricType::Gauge;
    case MetricFamily::Type::kHistogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric convert(const MetricFamily::Sample& sample, MetricFamily::Type type) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  switch (type) {
    case MetricFamily::Type::kCounter: metric.counter.value = sample.value; break;
    case MetricFamily::Type::kGauge: metric.gauge.value = sample.value; break;
    case MetricFamily::Type::kHistogram:
      metric.histogram.sample_sum = sample.value;
      for (const MetricFamily::Bucket& bucket : sample.buckets)
        metric.histogram.bucket.push_back({bucket.at_most, bucket.bound});
      metric.histogram.sample_count = sample.buckets.empty() ? 0 : sample.buckets.back().at_most;
      break;
  }
  return metric;
}

}  // namespace
}  // namespace tf::worker

// The one symbol that is exported; SerializeMetrics is its type.
extern "C" __attribute__((visibility("default"))) void hip_worker_serialize_metrics(
    const tf::worker::MetricFamilies& families, std::string& text) {
  std::vector<prometheus::MetricFamily> converted;
  converted.reserve(families.size());
  for (const tf::worker::MetricFamily& family : families) {
    prometheus::MetricFamily one{family.name, family.help, tf::worker::type_of(family.type), {}};
    for (const auto& sample : family.samples) one.metric.push_back(tf::worker::convert(sample, family.type));
    converted.push_back(std::move(one));
  }
  text = prometheus::TextSerializer().Serialize(converted);
}
