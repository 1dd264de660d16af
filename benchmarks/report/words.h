// SPDX-License-Identifier: Apache-2.0
// Figures in words: "19.6 million launches/s", "host to device, pinned".
#pragma once

#include <string>
#include <string_view>

namespace tf::bench {

// The unit in which a figure is shown: value / divisor, and its name.
struct Scale {
  double divisor = 1;
  std::string unit;
};

// For figures of `unit` (ns, 1/s, GB/s) around `value`; rates are of what `metric` counts.
Scale scale_for(std::string_view unit, std::string_view metric, double value);
// Three significant digits: "4.56", "45.6", "456"; thousands in full.
std::string digits(double value);
// "h2d_pinned" -> "host to device, pinned"
std::string metric_text(std::string_view metric);
// Whether a larger figure is better.
bool more_is_better(std::string_view unit);

}  // namespace tf::bench
