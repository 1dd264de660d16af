// SPDX-License-Identifier: Apache-2.0
// Short forms for families of metrics.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/base/metric_family.h"

namespace tf::worker {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

inline MetricFamily& add_family(MetricFamilies& families, MetricFamily::Type type, std::string name,
                                std::string help) {
  return families.emplace_back(MetricFamily{std::move(name), std::move(help), type, {}});
}

inline void add_sample(MetricFamily& family, MetricLabels labels, double value) {
  family.samples.push_back({std::move(labels), value, {}});
}

inline double number(std::uint64_t value) { return static_cast<double>(value); }

}  // namespace tf::worker
