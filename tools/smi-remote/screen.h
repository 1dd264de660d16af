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
  bool is_right = false;  // of a heading: its column ends at the right
};
using CellRow = std::vector<Cell>;

inline constexpr std::size_t kNameColumnsMax = 19;  // of a device, so that the table fits 80 columns

// The first row is the heading.
std::string table(const std::vector<CellRow>& rows, bool colored);
// A line below the heading and at the end, as wide as the table.
std::string ruled(const std::string& table);

// "GPU  Name  Temp  Power ...": one line for each.
std::string device_table(const std::vector<SeenDevice>& devices, bool colored);
std::string session_table(const std::vector<smi::Session>& sessions, int devices, bool colored);
// Label and value, line by line; what is not known is listed at the end.
std::string reading_lines(int device, const std::vector<Reading>& readings);
// "1.5 GiB"
std::string bytes_text(std::uint64_t bytes);
// "1:02:03"
std::string age_text(std::uint64_t age_ms);

}  // namespace tf::tools
