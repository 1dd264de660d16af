// SPDX-License-Identifier: Apache-2.0
// Draws the screen, and waits for keys.
#include "tools/smi-remote/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "tools/smi-remote/screen.h"
#include "tools/smi-remote/terminal.h"

namespace tf::tools {
namespace {

using std::chrono::seconds;

constexpr int kLabelColumns = 7;       // "  load "
constexpr int kValueColumns = 31;      // " 100% 1023.9 MiB / 1023.9 GiB" behind a bar
constexpr int kHalfValueColumns = 34;  // " 100%  mem " and " 100% 1023.9 GiB", around two bars in a line
constexpr int kBarLeast = 10;
constexpr seconds kLongest{60};
constexpr int kSessionRows = 4;  // that are kept free for sessions, with their heading
constexpr const char* kKeys = "q quit   + slower   - faster";

const char* color_of(double percent, const TopStyle& style) {
  if (!style.colored) return "";
  if (percent >= 85) return "\033[1;31m";
  return percent >= 60 ? "\033[33m" : "\033[32m";
}

std::string strong(const std::string& text, const TopStyle& style) {
  return style.colored ? "\033[1m" + text + "\033[0m" : text;
}

std::string or_none(const std::string& text, const char* unit = "") {
  return text.empty() ? "N/A" : text + unit;
}

std::string percent_text(double percent) { return percent < 0 ? " N/A" : fmt::format("{:3.0f}%", percent); }

// What a device has, ready to be shown.
struct Gauges {
  double load;    // percent; negative: not known
  double memory;  // likewise
  std::string used;
  std::string total;
};

Gauges gauges_of(const SeenDevice& device) {
  const bool is_loaded = smi::is_known(device.sample.core_busy_percent);
  Gauges gauges{is_loaded ? static_cast<double>(device.sample.core_busy_percent) : -1,
                memory_percent(device).value_or(-1), "", ""};
  if (gauges.memory < 0) return gauges;
  gauges.used = bytes_text(device.sample.memory_used_bytes);
  gauges.total = bytes_text(device.facts.memory_total_bytes);
  return gauges;
}

std::string heading(const SeenDevice& device, const TopStyle& style) {
  const smi::Sample& sample = device.sample;
  return strong(fmt::format("GPU{} {}", device.index, smi::text_of(device.facts.name)), style) +
         fmt::format(
             "  clock {}  temp {}  power {}\n", or_none(in_unit(sample.core_clock_hz, 1e6, 0), " MHz"),
             or_none(in_unit(temperature_of(sample), 1000, 0, true), " C"), or_none(power_text(sample)));
}

// A bar for each, and the past.
std::string four_lines(const SeenDevice& device, const History& history, const TopStyle& style) {
  const Gauges gauges = gauges_of(device);
  const int width = std::max(kBarLeast, style.columns - kLabelColumns - kValueColumns);
  const auto count = static_cast<std::size_t>(width - 2);
  const std::vector<int> loads = history.loads(device.index, count);
  return heading(device, style) +
         fmt::format("  load {} {}\n", bar(gauges.load, width, style), percent_text(gauges.load)) +
         fmt::format("  mem  {} {}{}\n", bar(gauges.memory, width, style), percent_text(gauges.memory),
                     gauges.memory < 0 ? "" : " " + gauges.used + " / " + gauges.total) +
         fmt::format("  past {}{}\n", std::string(count - loads.size() + 1, ' '), curve(loads, style));
}

// Both bars in one line.
std::string bars_line(const SeenDevice& device, const std::string& label, const TopStyle& style) {
  const Gauges gauges = gauges_of(device);
  const int both = style.columns - static_cast<int>(label.size()) - kHalfValueColumns;
  const int width = std::max(kBarLeast, both / 2);
  return fmt::format("{}load {} {}  mem {} {} {}\n", label, bar(gauges.load, width, style),
                     percent_text(gauges.load), bar(gauges.memory, width, style), percent_text(gauges.memory),
                     gauges.used);
}

std::string device_lines(const SeenDevice& device, int lines, const History& history, const TopStyle& style) {
  if (lines == 4) return four_lines(device, history, style);
  if (lines == 2) return heading(device, style) + bars_line(device, "  ", style);
  return bars_line(device, fmt::format("GPU{:<3}", device.index), style);
}

// The most with which all devices fit, beside `others` lines; 1 if none does.
int lines_of_each(int devices, int others, int rows) {
  for (const int lines : {4, 2})
    if (devices * lines + others <= rows) return lines;
  return 1;
}

// At most so many lines. The last one tells of sessions that do not fit.
std::string fitting_sessions(const std::vector<smi::Session>& sessions, int devices, int rows, bool colored) {
  const int count = static_cast<int>(sessions.size());
  if (count + 1 <= rows) return session_table(sessions, devices, colored);
  const int shown = std::max(rows - 2, 0);  // below the heading, and above the last line
  if (shown == 0) return fmt::format("{} sessions do not fit here\n", count);
  return session_table({sessions.begin(), sessions.begin() + shown}, devices, colored) +
         fmt::format("{} more sessions do not fit here\n", count - shown);
}

// Just as many lines as that; what is too much is left out.
std::string lines_of(const std::string& text, int count) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; count > 0; --count) {
    if (!std::getline(lines, line)) line.clear();
    kept += line + '\n';
  }
  return kept;
}

seconds changed(int key, seconds interval) {
  if (key == '+') return std::min(interval + seconds(1), kLongest);
  return key == '-' ? std::max(interval - seconds(1), seconds(1)) : interval;
}

// False: the user has had enough. Keys that change the interval count at once.
bool wait_for_turn(const Terminal& terminal, seconds& interval) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(begin + interval - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    const int key = terminal.wait_for_key(left);
    if (key == Terminal::kEnd || key == 'q' || key == 'Q') return false;
    const seconds before = std::exchange(interval, changed(key, interval));
    if (key == Terminal::kNothing || interval != before) return true;
  }
}

}  // namespace

void History::add(const std::vector<SeenDevice>& devices) {
  for (const SeenDevice& device : devices) {
    const auto index = static_cast<std::size_t>(device.index);
    if (loads_.size() <= index) loads_.resize(index + 1);
    const std::uint64_t load = device.sample.core_busy_percent;
    loads_[index].push_back(smi::is_known(load) ? static_cast<int>(std::min<std::uint64_t>(load, 100)) : -1);
    if (loads_[index].size() > kHistoryMax) loads_[index].pop_front();
  }
}

std::vector<int> History::loads(int device, std::size_t count) const {
  if (device < 0 || static_cast<std::size_t>(device) >= loads_.size()) return {};
  const std::deque<int>& all = loads_[static_cast<std::size_t>(device)];
  return {all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end()};
}

std::string bar(double percent, int width, const TopStyle& style) {
  const int inside = std::max(width - 2, 0);
  if (percent < 0) return fmt::format("[{:^{}}]", "N/A", inside);
  const int filled = std::clamp(static_cast<int>(percent / 100 * inside + 0.5), 0, inside);
  const char* const color = color_of(percent, style);
  std::string text;
  for (int column = 0; column < filled; ++column) text += style.has_blocks ? "█" : "|";
  return fmt::format("[{}{}{}{:{}}]", color, text, *color != '\0' ? "\033[0m" : "", "", inside - filled);
}

std::string curve(const std::vector<int>& loads, const TopStyle& style) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* kLetters[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
  std::string text;
  for (const int load : loads) {
    const auto level = static_cast<std::size_t>(std::clamp(load, 0, 100) * 7 / 100);
    text += load < 0 ? " " : (style.has_blocks ? kBlocks : kLetters)[level];
  }
  return text;
}

std::string top_screen(const std::string& worker, seconds interval, const std::vector<SeenDevice>& devices,
                       const std::vector<smi::Session>& sessions, const History& history,
                       const TopStyle& style) {
  const int count = static_cast<int>(devices.size());
  // Around them: a title, a line between, sessions, the keys.
  const int others = 3 + std::min(kSessionRows, static_cast<int>(sessions.size()) + 1);
  const int lines = lines_of_each(count, others, style.rows);
  const int fit = std::clamp(style.rows - others - 1, 1, std::max(count, 1));
  const bool all_fit = lines > 1 || count + others <= style.rows || count <= fit;
  std::string text =
      strong("hip-remote top", style) + fmt::format("  every {} s  {}\n", interval.count(), worker);
  for (int index = 0; index < (all_fit ? count : fit); ++index)
    text += device_lines(devices[static_cast<std::size_t>(index)], lines, history, style);
  if (!all_fit) text += fmt::format("{} more devices do not fit here\n", count - fit);
  if (devices.empty()) text += "No devices\n";
  text += '\n';
  const int used = static_cast<int>(std::ranges::count(text, '\n'));
  text += fitting_sessions(sessions, count, style.rows - 1 - used, style.colored);
  return lines_of(text, style.rows - 1) + (style.colored ? fmt::format("\033[7m{}\033[0m", kKeys) : kKeys) +
         "\n";
}

Status run_top(smi::Remote& remote, seconds interval, bool colored) {
  Result<Terminal> terminal = Terminal::open();
  if (!terminal) return terminal.status();
  History history;
  do {
    Result<std::vector<SeenDevice>> devices = read_devices(remote, std::nullopt);
    if (!devices) return devices.status();
    Result<std::vector<smi::Session>> sessions = remote.sessions();
    if (!sessions) return sessions.status();
    history.add(*devices);
    const ScreenSize size = terminal->size();
    const TopStyle style{size.columns, size.rows, terminal->has_blocks(), colored};
    terminal->draw(top_screen(remote.worker(), interval, *devices, *sessions, history, style));
  } while (wait_for_turn(*terminal, interval));
  return Status::ok();
}

}  // namespace tf::tools
