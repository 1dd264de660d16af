// SPDX-License-Identifier: Apache-2.0
// The screen of `hip-remote top`: bars and the last minutes of each device, and who uses them.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "smi/client/remote.h"
#include "tools/smi-remote/readings.h"

namespace tf::tools {

inline constexpr std::size_t kHistoryMax = 512;  // looks that are kept of each device

// What has been seen so far.
class History {
 public:
  void add(const std::vector<SeenDevice>& devices);
  // The last `count` loads, in percent; the newest comes last. Negative: not known.
  std::vector<int> loads(int device, std::size_t count) const;

 private:
  std::vector<std::deque<int>> loads_;
};

struct TopStyle {
  int columns = 80;
  int rows = 24;
  bool has_blocks = false;  // the terminal shows more than ASCII
  bool colored = true;
};

// "[||||    ]", as wide as `width`. Negative: "[  N/A   ]".
std::string bar(double percent, int width, const TopStyle& style);
// One character for each load.
std::string curve(const std::vector<int>& loads, const TopStyle& style);
// As many lines as the terminal has. The more devices there are, the fewer lines each has: sessions stay
// seen.
std::string top_screen(const std::string& worker, std::chrono::seconds interval,
                       const std::vector<SeenDevice>& devices, const std::vector<smi::Session>& sessions,
                       const History& history, const TopStyle& style);

// Until `q`, Ctrl-C or the end of the worker. + and - change the interval.
Status run_top(smi::Remote& remote, std::chrono::seconds interval, bool colored);

}  // namespace tf::tools
