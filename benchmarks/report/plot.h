// SPDX-License-Identifier: Apache-2.0
// Plots of a benchmark: figures over sizes, both logarithmic, as SVG.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/report/report.h"

namespace tf::bench {

struct PlotText {
  std::string title;
  std::vector<std::string> notes;  // small lines below the title: where, when, what is left out and why
};

// A point for each row of `unit` (GB/s or ns) that has a size; one line per transport and metric, limits
// dashed. False when there is nothing to draw or the file cannot be written.
bool write_plot(const std::string& path, const PlotText& text, const std::vector<Row>& rows,
                const std::string& unit = "GB/s");

}  // namespace tf::bench
