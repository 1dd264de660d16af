// SPDX-License-Identifier: Apache-2.0
// Lays out tables.
#include "tools/smi-remote/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tf::tools {
namespace {

using smi::is_known;

constexpr double kWarmShare = 0.6;
constexpr double kHotShare = 0.85;
constexpr double kUsualCritical_c = 100;  // where the device does not say
constexpr std::size_t kProseColumns = 78;

const char* escape_of(Tone tone) {
  switch (tone) {
    case Tone::kGood: return "\033[32m";
    case Tone::kWarm: return "\033[33m";
    case Tone::kHot: return "\033[1;31m";
    case Tone::kDim: return "\033[2m";
    default: return "";
  }
}

Tone tone_of(double share) {
  if (share >= kHotShare) return Tone::kHot;
  return share >= kWarmShare ? Tone::kWarm : Tone::kGood;
}

Cell cell(const std::string& text, const char* unit = "") {
  return text.empty() ? Cell{"N/A", Tone::kDim} : Cell{text + unit, Tone::kPlain};
}

// Some devices have a sensor at the hottest place only.
Cell temperature_cell(const smi::Sample& sample) {
  const std::uint64_t shown = temperature_of(sample);
  Cell made = cell(in_unit(shown, 1000, 0, true), " C");
  if (!is_known(shown)) return made;
  const double critical = is_known(sample.critical_temperature_mc)
                              ? static_cast<double>(smi::as_signed(sample.critical_temperature_mc)) / 1000
                              : kUsualCritical_c;
  if (critical > 0) made.tone = tone_of(static_cast<double>(smi::as_signed(shown)) / 1000 / critical);
  return made;
}

Cell percent_cell(std::optional<double> percent) {
  if (!percent) return {"N/A", Tone::kDim};
  return {fmt::format("{:.0f}%", *percent), tone_of(*percent / 100)};
}

std::optional<double> percent_of(std::uint64_t number) {
  return is_known(number) ? std::optional<double>(static_cast<double>(number)) : std::nullopt;
}

Cell fan_cell(const SeenDevice& device) {
  const std::uint64_t most = device.facts.fan_most;
  if (!is_known(device.sample.fan_level) || !is_known(most) || most == 0)
    return cell(in_unit(device.sample.fan_rpm, 1, 0), " rpm");
  return {fmt::format("{:.0f}%",
                      100.0 * static_cast<double>(device.sample.fan_level) / static_cast<double>(most)),
          Tone::kPlain};
}

std::string clipped(std::string text, std::size_t columns) {
  if (text.size() > columns) text.replace(columns - 2, std::string::npos, "..");
  return text;
}

CellRow row_of(const SeenDevice& device) {
  const smi::Sample& sample = device.sample;
  return {{fmt::format("{}", device.index), Tone::kPlain},
          cell(clipped(smi::text_of(device.facts.name), kNameColumnsMax)),
          temperature_cell(sample),
          cell(power_text(sample)),
          cell(in_unit(sample.core_clock_hz, 1e6, 0), " MHz"),
          cell(in_unit(sample.memory_clock_hz, 1e6, 0), " MHz"),
          fan_cell(device),
          percent_cell(memory_percent(device)),
          percent_cell(percent_of(sample.core_busy_percent))};
}

// Control characters of a program's name do not get to the terminal.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

// "LABEL: A, B, C", in lines of at most kProseColumns; those behind the first begin below A.
std::string wrapped(const std::string& label, const std::vector<std::string>& items) {
  std::string text = label;
  std::size_t column = label.size();
  for (std::size_t index = 0; index < items.size(); ++index) {
    const std::string item = items[index] + (index + 1 == items.size() ? "" : ",");
    if (index != 0 && column + 1 + item.size() > kProseColumns) {
      text += '\n' + std::string(label.size(), ' ');
      column = label.size();
    } else if (index != 0) {
      text += ' ';
      ++column;
    }
    text += item;
    column += item.size();
  }
  return text + '\n';
}

// Without escape sequences.
std::size_t shown_columns(const std::string& line) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\033')
      at = std::min(line.find('m', at), line.size());
    else
      ++columns;
  }
  return columns;
}

}  // namespace

std::string table(const std::vector<CellRow>& rows, bool colored) {
  std::vector<std::size_t> widths;
  for (const CellRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].text.size());
  }
  std::string text;
  for (const CellRow& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      const char* const escape = colored ? escape_of(row[column].tone) : "";
      const std::size_t padding = widths[column] - row[column].text.size();
      const bool is_right = column < rows.front().size() && rows.front()[column].is_right;
      const bool is_last = column + 1 == row.size();
      if (is_right) text.append(padding, ' ');
      text += escape + printable(row[column].text) + (*escape != '\0' ? "\033[0m" : "");
      if (!is_last) text.append(is_right ? 2 : padding + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string device_table(const std::vector<SeenDevice>& devices, bool colored) {
  std::vector<CellRow> rows(1);
  for (const char* const title : {"GPU", "Name", "Temp", "Power", "SCLK", "MCLK", "Fan", "VRAM%", "GPU%"})
    rows.front().push_back({title, Tone::kPlain, rows.front().size() > 1});
  for (const SeenDevice& device : devices) rows.push_back(row_of(device));
  return table(rows, colored);
}

std::string session_table(const std::vector<smi::Session>& sessions, int devices, bool colored) {
  if (sessions.empty()) return "No other sessions of this tenant\n";
  std::vector<CellRow> rows(1);
  for (const std::string title : {"SESSION", "PID", "PROCESS NAME", "FROM", "AGE", "GPU(s)", "VRAM USED"})
    rows.front().push_back({title, Tone::kPlain,
                            title == "SESSION" || title == "PID" || title == "AGE" || title == "VRAM USED"});
  for (const smi::Session& session : sessions) {
    std::string on;
    std::uint64_t bytes = 0;
    for (int device = 0; device < devices; ++device) {
      if (session.memory_bytes[device] == 0) continue;
      bytes += session.memory_bytes[device];
      on += fmt::format("{}{}", on.empty() ? "" : ",", device);
    }
    rows.push_back({{fmt::format("{}", session.session), Tone::kPlain},
                    {fmt::format("{}", session.client_pid), Tone::kPlain},
                    {smi::text_of(session.program), Tone::kPlain},
                    {smi::text_of(session.peer), Tone::kDim},
                    {age_text(session.age_ms), Tone::kPlain},
                    on.empty() ? Cell{"-", Tone::kDim} : Cell{on, Tone::kPlain},
                    {bytes_text(bytes), Tone::kPlain}});
  }
  return table(rows, colored);
}

std::string ruled(const std::string& table) {
  std::size_t widest = 0;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, shown_columns(line));
  const std::string rule = std::string(widest, '=') + '\n';
  return rule + table + rule;
}

std::string reading_lines(int device, const std::vector<Reading>& readings) {
  std::size_t widest = 0;
  for (const Reading& reading : readings)
    if (!reading.text.empty()) widest = std::max(widest, reading.label.size());
  std::string text = fmt::format("GPU {}\n", device);
  std::vector<std::string> unknown;
  for (const Reading& reading : readings) {
    if (reading.text.empty()) {
      unknown.push_back(reading.label);
      continue;
    }
    text += fmt::format("  {:<{}}  {}", reading.label, widest, printable(reading.text));
    const bool is_bytes = reading.label.ends_with("(B)");
    text += is_bytes ? fmt::format("  ({})\n", bytes_text(std::strtoull(reading.text.c_str(), nullptr, 10)))
                     : "\n";
  }
  return unknown.empty() ? text : text + wrapped("  N/A: ", unknown);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string age_text(std::uint64_t age_ms) {
  const std::uint64_t seconds = age_ms / 1000;
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace tf::tools
