// SPDX-License-Identifier: Apache-2.0
// The lists of visible devices, entry by entry as AMD's runtimes read them.
#include "hipcore/devices/visible_devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tf::hipcore {
namespace {

using Chosen = std::vector<std::size_t>;

const std::vector<std::string> kDevices = {"GPU-abba000000000001", "GPU-abba000000000002",
                                           "GPU-baba000000000003", "GPU-cafe000000000004"};
const Chosen kAll = {0, 1, 2, 3};

Chosen hip(const char* list) { return choose_visible({std::nullopt, list}, kDevices); }
Chosen rocr(const char* list) { return choose_visible({list, ""}, kDevices); }

TEST(HipVisibleDevices, AreNumbersInTheProgramsOrder) {
  EXPECT_EQ(hip(""), kAll);
  EXPECT_EQ(hip("2"), (Chosen{2}));
  EXPECT_EQ(hip("3,0"), (Chosen{3, 0}));
  EXPECT_EQ(hip("1,"), (Chosen{1}));
  EXPECT_EQ(hip("1,1,0"), (Chosen{1, 0})) << "one that stands there again counts once";
}

TEST(HipVisibleDevices, EndBeforeTheFirstThatDoesNotExist) {
  EXPECT_EQ(hip("0,4,1"), (Chosen{0}));
  for (const char* const wrong :
       {"-1", "4", "x", " 0", "0 ", "00", "+0", "0x1", ",0", "99999999999999999999"})
    EXPECT_EQ(hip(wrong), Chosen{}) << wrong;
}

TEST(HipVisibleDevices, NameDevicesByAPartOfTheirUuid) {
  EXPECT_EQ(hip("GPU-cafe000000000004,0"), (Chosen{3, 0}));
  EXPECT_EQ(hip("GPU-abba"), (Chosen{0})) << "the first that has it";
  EXPECT_EQ(hip("GPU-ABBA"), Chosen{});
  EXPECT_EQ(hip("abba000000000001"), Chosen{});
  EXPECT_EQ(hip("1,GPU-dead,0"), (Chosen{1}));
}

TEST(RocrVisibleDevices, EmptyIsNone) {
  EXPECT_EQ(rocr(""), Chosen{});
  EXPECT_EQ(choose_visible({}, kDevices), kAll);
}

TEST(RocrVisibleDevices, AreNumbersAsStrtolTakesThem) {
  EXPECT_EQ(rocr("3,0"), (Chosen{3, 0}));
  EXPECT_EQ(rocr(" 2 ,0x1,01"), (Chosen{2, 1})) << "01 is 1 again, which ends the list";
  EXPECT_EQ(rocr("0,0,1"), (Chosen{0})) << "unlike HIP's";
  for (const char* const wrong : {"-1", "4", "x", ",0", "0y", "99999999999999999999"})
    EXPECT_EQ(rocr(wrong), Chosen{}) << wrong;
  EXPECT_EQ(rocr("1,9,0"), (Chosen{1}));
}

TEST(RocrVisibleDevices, NameOneDeviceByTheBeginningOfItsUuid) {
  EXPECT_EQ(rocr("GPU-cafe000000000004"), (Chosen{3}));
  EXPECT_EQ(rocr("gpu-CAFE,0"), (Chosen{3, 0})) << "case does not matter";
  EXPECT_EQ(rocr("GPU-abba"), Chosen{}) << "two devices begin like that";
  EXPECT_EQ(rocr("GPU-"), Chosen{}) << "too short";
  EXPECT_EQ(rocr("GPU-cafe0000000000040"), Chosen{}) << "too long";
  EXPECT_EQ(rocr("0,GPU-dead"), (Chosen{0}));
}

TEST(VisibleDevices, HipsListNumbersWhatRocrsLeaves) {
  EXPECT_EQ(choose_visible({"3,1,0", "1,0"}, kDevices), (Chosen{1, 3}));
  EXPECT_EQ(choose_visible({"3,1", "2"}, kDevices), Chosen{});
  EXPECT_EQ(choose_visible({"3,1", "GPU-abba"}, kDevices), (Chosen{1})) << "the first of those that are left";
  EXPECT_EQ(choose_visible({"", "0"}, kDevices), Chosen{});
}

TEST(UuidText, IsAsTheVendorWritesIt) {
  std::array<std::uint8_t, 16> uuid{};
  std::ranges::copy(std::string_view("cafe000000000004"), uuid.begin());
  EXPECT_EQ(uuid_text(uuid), "GPU-cafe000000000004");
  for (std::uint8_t byte = 0; byte < 16; ++byte) uuid[byte] = static_cast<std::uint8_t>(byte * 17);
  EXPECT_EQ(uuid_text(uuid), "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

}  // namespace
}  // namespace tf::hipcore
