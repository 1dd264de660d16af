// SPDX-License-Identifier: Apache-2.0
// Draws the screen, and waits for keys.
#include "tools/smi-remote/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/smi-remote/screen.h"
#include "tools/smi-remote/terminal.h"

namespace tf::tools {
namespace {

using std::chrono::seconds;

constexpr int kLabelColumns = 7;   // "  load "
constexpr int kValueColumns = 24;  // behind a bar
constexpr int kBarLeast = 10;
constexpr seconds kLongest{60};

const char* color_of(double percent, const TopStyle& style) {
  if (!style.colored) return "";
  if (percent >= 85) return "\033[1;31m";
  return percent >= 60 ? "\033[33m" : "\033[32m";
}

std::string strong(const std::string& text, const TopStyle& style) {
  return style.colored ? "\033[1m" + text + "\033[0m" : text;
}

std::string or_none(const std::string& text, const char* unit) { return text.empty() ? "N/A" : text + unit; }

std::string device_lines(const SeenDevice& device, const History& history, const TopStyle& style) {
  const smi::Sample& sample = device.sample;
  const int width = std::max(kBarLeast, style.columns - kLabelColumns - kValueColumns);
  const bool is_loaded = smi::is_known(sample.core_busy_percent);
  const double load = is_loaded ? static_cast<double>(sample.core_busy_percent) : -1;
  const double memory = memory_percent(device).value_or(-1);
  const std::string used =
      memory < 0 ? "N/A"
                 : bytes_text(sample.memory_used_bytes) + " / " + bytes_text(device.facts.memory_total_bytes);
  std::string text = strong(fmt::format("GPU{} {}", device.index, smi::text_of(device.facts.name)), style);
  text += fmt::format("  {}  {}  {}\n", or_none(in_unit(sample.core_clock_hz, 1e6, 0), " MHz"),
                      or_none(in_unit(sample.edge_temperature_mc, 1000, 0, true), " C"),
                      or_none(in_unit(sample.power_uw, 1e6, 0), " W"));
  text += fmt::format("  load {} {}\n", bar(load, width, style),
                      is_loaded ? fmt::format("{:.0f}%", load) : "N/A");
  text += fmt::format("  mem  {} {}\n", bar(memory, width, style), used);
  return text + fmt::format("  past {}\n",
                            curve(history.loads(device.index, static_cast<std::size_t>(width)), style));
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
  std::string text =
      strong("hip-remote top", style) +
      fmt::format("  {}  every {} s  (q ends, + and - change that)\n", worker, interval.count());
  for (const SeenDevice& device : devices) text += device_lines(device, history, style);
  if (devices.empty()) text += "No devices\n";
  return text + "\n" + session_table(sessions, static_cast<int>(devices.size()), style.colored);
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
    const TopStyle style{terminal->size().columns, terminal->has_blocks(), colored};
    terminal->draw(top_screen(remote.worker(), interval, *devices, *sessions, history, style));
  } while (wait_for_turn(*terminal, interval));
  return Status::ok();
}

}  // namespace tf::tools
