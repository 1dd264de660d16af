// SPDX-License-Identifier: Apache-2.0
// Tables, bars and screens as text.
#include "tools/smi-remote/screen.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/smi-remote/terminal.h"
#include "tools/smi-remote/top.h"

namespace tf::tools {
namespace {

constexpr TopStyle kPlain{40, 24, false, false};

SeenDevice device_with(std::uint64_t load) {
  SeenDevice device;
  device.facts = smi::unknown_facts();
  device.sample = smi::unknown_sample();
  device.sample.core_busy_percent = load;
  return device;
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(table({{{"A"}, {"B"}}, {{"long"}, {"x"}}}, false), "A     B\nlong  x\n");
}

TEST(Table, ControlCharactersOfAProgramsNameDoNotReachTheTerminal) {
  EXPECT_EQ(table({{{"a\033[2Jb\n"}}}, true), "a?[2Jb?\n");
}

TEST(Table, ColoursDoNotCountAsWidth) {
  const std::string plain = device_table({device_with(10), device_with(100)}, false);
  std::string colored = device_table({device_with(10), device_with(100)}, true);
  EXPECT_NE(plain, colored);
  for (const char* const escape : {"\033[32m", "\033[1;31m", "\033[2m", "\033[0m"})
    for (std::size_t at = colored.find(escape); at != std::string::npos; at = colored.find(escape))
      colored.erase(at, std::string_view(escape).size());
  EXPECT_EQ(plain, colored);
}

TEST(Table, NumbersEndAtTheRight) {
  EXPECT_EQ(
      table({{{"A"}, {"B", Tone::kPlain, true}, {"C"}}, {{"x"}, {"9"}, {"y"}}, {{"x"}, {"1000"}, {"y"}}},
            false),
      "A     B  C\nx     9  y\nx  1000  y\n");
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// As a large GPU, all values known.
SeenDevice full_device(const std::string& name) {
  SeenDevice device = device_with(100);
  smi::set_text(device.facts.name, name);
  device.facts.memory_total_bytes = 192ull << 30;
  device.facts.fan_most = 100;
  device.sample.memory_used_bytes = 192ull << 30;
  device.sample.hotspot_temperature_mc = 61'400;
  device.sample.power_uw = 700'400'000;
  device.sample.power_cap_uw = 750'000'000;
  device.sample.core_clock_hz = 2'100'000'000;
  device.sample.memory_clock_hz = 2'619'000'000;
  device.sample.fan_level = 100;
  return device;
}

TEST(Table, ALargeDeviceFitsEightyColumns) {
  const SeenDevice device = full_device("NVIDIA GH200 144G HBM3e of the longest name");
  const std::vector<std::string> lines = lines_in(ruled(device_table({device, device_with(5)}, false)));
  ASSERT_EQ(lines.size(), 5u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_EQ(lines.front(), lines.back());
  EXPECT_EQ(lines.front(), std::string(lines[2].size(), '=')) << "the rule is as wide as the table";
  EXPECT_EQ(lines[2], "0    NVIDIA GH200 144G..  61 C  700/750 W  2100 MHz  2619 MHz  100%   100%  100%");
  const std::string colored = ruled(device_table({device}, true));
  EXPECT_EQ(lines_in(colored).front().size(), lines[2].size()) << "colours do not count";
}

TEST(Lines, KnownValuesAreAlignedAndTheRestIsListed) {
  std::vector<Reading> readings = {{"Name", "name", "A", false},
                                   {"VRAM used memory (B)", "used", "1536", true}};
  for (int unknown = 0; unknown < 12; ++unknown) readings.push_back({"Not known", "x", "", true});
  const std::vector<std::string> lines = lines_in(reading_lines(3, readings));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "GPU 3");
  EXPECT_EQ(lines[1], "  Name                  A");
  EXPECT_EQ(lines[2], "  VRAM used memory (B)  1536  (1.5 KiB)");
  EXPECT_TRUE(lines[3].starts_with("  N/A: Not known, Not known,")) << lines[3];
  EXPECT_TRUE(lines[4].starts_with("       Not known, ")) << lines[4];
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
}

// Bars, sessions and keys stay on the screen, however many devices there are.
TEST(Screen, HasALineForEachRowAndTheKeysAtTheEnd) {
  smi::Session session{};
  session.known = 1;
  smi::set_text(session.program, "train");
  for (const int count : {0, 1, 2, 4, 8, 16, 64}) {
    std::vector<SeenDevice> devices;
    for (int index = 0; index < count; ++index) {
      devices.push_back(full_device("GPU of a test"));
      devices.back().index = index;
    }
    History history;
    history.add(devices);
    for (const TopStyle style : {TopStyle{80, 24, false, false}, TopStyle{140, 40, false, false}}) {
      const std::string text =
          top_screen("unix:/w", std::chrono::seconds(1), devices, {session}, history, style);
      const std::vector<std::string> lines = lines_in(text);
      ASSERT_EQ(lines.size(), static_cast<std::size_t>(style.rows)) << text;
      EXPECT_EQ(lines.front(), "hip-remote top  every 1 s  unix:/w");
      EXPECT_EQ(lines.back(), "q quit   + slower   - faster");
      EXPECT_NE(text.find("train"), std::string::npos) << text;
      for (const std::string& line : lines)
        EXPECT_LE(line.size(), static_cast<std::size_t>(style.columns)) << line;
      const bool all = text.find("GPU" + std::to_string(count - 1)) != std::string::npos;
      const bool told = text.find("more devices do not fit here") != std::string::npos;
      EXPECT_TRUE(count == 0 || all != told) << text;
    }
  }
}

TEST(Screen, SessionsThatDoNotFitAreCounted) {
  const SeenDevice device = full_device("GPU of a test");
  for (const int rows : {5, 8, 9, 10, 24, 40}) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{14}, std::size_t{15}, std::size_t{200}}) {
      smi::Session session{};
      smi::set_text(session.program, "train");
      const std::vector<smi::Session> sessions(count, session);
      const std::string text =
          top_screen("w", std::chrono::seconds(1), {device}, sessions, History(), {80, rows, false, false});
      const std::vector<std::string> lines = lines_in(text);
      ASSERT_EQ(lines.size(), static_cast<std::size_t>(rows)) << text;
      std::size_t shown = 0;
      std::size_t told = 0;
      for (const std::string& line : lines) {
        if (line.find("train") != std::string::npos) ++shown;
        if (line.ends_with("sessions do not fit here")) told = std::stoul(line);
      }
      EXPECT_EQ(shown + told, count) << text;
    }
  }
}

TEST(Screen, ThePastEndsAtTheRight) {
  const SeenDevice device = full_device("GPU");
  History history;
  history.add({device});
  const std::vector<std::string> lines =
      lines_in(top_screen("w", std::chrono::seconds(1), {device}, {}, history, {80, 24, false, false}));
  ASSERT_GT(lines.size(), 5u);
  EXPECT_EQ(lines[1], "GPU0 GPU  clock 2100 MHz  temp 61 C  power 700/750 W");
  const std::size_t bar_end = lines[2].find(']');
  ASSERT_NE(bar_end, std::string::npos);
  EXPECT_EQ(lines[2].substr(bar_end), "] 100%");
  EXPECT_EQ(lines[3].substr(bar_end), "] 100% 192.0 GiB / 192.0 GiB");
  EXPECT_EQ(lines[4].size(), bar_end) << "below the last column of the bar";
  EXPECT_EQ(lines[4].back(), '#');
}

TEST(Texts, PowerAndTemperature) {
  smi::Sample sample = smi::unknown_sample();
  EXPECT_EQ(power_text(sample), "");
  EXPECT_FALSE(smi::is_known(temperature_of(sample)));
  sample.power_uw = 250'500'000;
  EXPECT_EQ(power_text(sample), "250 W");
  sample.power_cap_uw = 700'000'000;
  EXPECT_EQ(power_text(sample), "250/700 W");
  sample.hotspot_temperature_mc = 70'000;
  EXPECT_EQ(temperature_of(sample), 70'000u);
  sample.edge_temperature_mc = 60'000;
  EXPECT_EQ(temperature_of(sample), 60'000u);
}

TEST(Texts, BytesAndAges) {
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(~0ull), "16.0 EiB");
  EXPECT_EQ(age_text(3'723'000), "1:02:03");
}

TEST(Texts, NumbersInUnits) {
  EXPECT_EQ(in_unit(250'500'000, 1e6, 1), "250.5");
  EXPECT_EQ(in_unit(static_cast<std::uint64_t>(-1500), 1000, 1, true), "-1.5");
  EXPECT_EQ(in_unit(smi::kUnknown, 1, 0), "");
}

TEST(Bar, IsFullAtAHundred) {
  EXPECT_EQ(bar(0, 12, kPlain), "[          ]");
  EXPECT_EQ(bar(50, 12, kPlain), "[|||||     ]");
  EXPECT_EQ(bar(100, 12, kPlain), "[||||||||||]");
  EXPECT_EQ(bar(400, 12, kPlain), "[||||||||||]");
  EXPECT_EQ(bar(-1, 12, kPlain), "[   N/A    ]");
}

TEST(Curve, ShowsTheNewestLast) {
  History history;
  for (const std::uint64_t load : {std::uint64_t{0}, std::uint64_t{50}, std::uint64_t{100}, smi::kUnknown})
    history.add({device_with(load)});
  EXPECT_EQ(curve(history.loads(0, 10), kPlain), "_=# ");
  EXPECT_EQ(curve(history.loads(0, 2), kPlain), "# ");
  EXPECT_EQ(curve(history.loads(1, 2), kPlain), "");
  for (std::size_t look = 0; look < 2 * kHistoryMax; ++look) history.add({device_with(1)});
  EXPECT_EQ(history.loads(0, 10 * kHistoryMax).size(), kHistoryMax);
}

TEST(CutLine, CountsCharactersAndKeepsSequences) {
  EXPECT_EQ(cut_line("abcdef", 3), "abc");
  EXPECT_EQ(cut_line("▁▂▃▄", 2), "▁▂");
  EXPECT_EQ(cut_line("\033[32mabc\033[0mdef", 2), "\033[32mab\033[0m");
  EXPECT_EQ(cut_line("\033[", 2), "\033[");
}

}  // namespace
}  // namespace tf::tools
