// SPDX-License-Identifier: Apache-2.0
// Figures in words for people: "19.6 million launches/s", "host to device, pinned".
#pragma once

#include <string>
#include <string_view>

namespace tf::bench {

// In what a figure is shown: value / divisor, and the name of that.
struct Scale {
  double divisor = 1;
  std::string unit;
};

// For figures of `unit` (ns, 1/s, GB/s) around `value`; rates are of what `metric` counts.
Scale scale_for(std::string_view unit, std::string_view metric, double value);
// Three digits that count: "4.56", "45.6", "456"; thousands as they are.
std::string digits(double value);
// "h2d_pinned" -> "host to device, pinned"
std::string metric_text(std::string_view metric);
// Is a larger figure the better one?
bool more_is_better(std::string_view unit);

}  // namespace tf::bench
