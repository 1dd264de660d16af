// SPDX-License-Identifier: Apache-2.0
// Tables, bars and screens as text.
#include "tools/smi-remote/screen.h"

#include <gtest/gtest.h>

#include "tools/smi-remote/terminal.h"
#include "tools/smi-remote/top.h"

namespace tf::tools {
namespace {

constexpr TopStyle kPlain{40, false, false};

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
