// SPDX-License-Identifier: Apache-2.0
// Exposition: makes the text that Prometheus reads, with libhip_worker_metrics.so, which it loads.
#pragma once

#include <string>

#include "transport/base/status.h"
#include "worker/base/metric_family.h"

namespace tf::worker {

class Exposition {
 public:
  // kUnavailable: the library, or prometheus-cpp, is not installed. It stays loaded.
  static Result<Exposition> load();

  // REQUIRES: loaded
  std::string text(const MetricFamilies& families) const;

 private:
  SerializeMetrics* serialize_ = nullptr;
};

}  // namespace tf::worker
