// SPDX-License-Identifier: Apache-2.0
// What readings of devices look like to Prometheus. A number that is not known has no sample, and a family
// without samples is left out. Series are bounded by the worker's devices.
#pragma once

#include <vector>

#include "worker/base/metric_family.h"
#include "worker/supervisor/smi_watch.h"

namespace tf::worker {

MetricFamilies smi_families(const std::vector<ShownReading>& devices);

}  // namespace tf::worker
