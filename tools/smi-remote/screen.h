// SPDX-License-Identifier: Apache-2.0
// Tables as text. Colours are escape sequences; widths do not count them.
#pragma once

#include <string>
#include <vector>

#include "tools/smi-remote/readings.h"

namespace tf::tools {

enum class Tone { kPlain, kGood, kWarm, kHot, kDim };

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};
using CellRow = std::vector<Cell>;

// The first row is the heading.
std::string table(const std::vector<CellRow>& rows, bool colored);

// "GPU  Temp  AvgPwr ...", as rocm-smi's concise view.
std::string device_table(const std::vector<SeenDevice>& devices, bool colored);
std::string session_table(const std::vector<smi::Session>& sessions, int devices, bool colored);
// "GPU[0]    : Name: ...", as rocm-smi writes it.
std::string reading_lines(int device, const std::vector<Reading>& readings);
// "1.5 GiB"
std::string bytes_text(std::uint64_t bytes);
// "1:02:03"
std::string age_text(std::uint64_t age_ms);

}  // namespace tf::tools
