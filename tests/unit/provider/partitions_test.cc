// SPDX-License-Identifier: Apache-2.0
// What partitions get of a device, and what none gets.
#include "provider/partitions.h"

#include <gtest/gtest.h>

namespace tf::provider {
namespace {

constexpr std::uint64_t kGib = 1ULL << 30;

Device gpu() {
  Device device;
  device.uuid = device.visible = "GPU-00000000000000ab";
  device.memory_bytes = 192 * kGib;
  device.compute_units = 304;
  return device;
}

TEST(Templates, AreSlicesAndGibibytes) {
  const std::optional<Template> parsed = parse_template("2g.48gb");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->slices, 2u);
  EXPECT_EQ(parsed->memory_bytes, 48 * kGib);
  for (const char* const id : {"", "2g", "2g.gb", "0g.1gb", "9g.1gb", "1g.0gb", "1g.1gb ", "-1g.1gb",
                               "1G.1GB", "1g.99999999999999999999gb", "18446744073709551617g.1gb"})
    EXPECT_FALSE(parse_template(id)) << id;
}

TEST(Partitions, TellTheWorkerItsPart) {
  Partitions partitions;
  Result<Partition> first = partitions.assign("3g.48gb", gpu());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->uuid, "GPU-00000000000000ab-p1");
  EXPECT_EQ(first->variables,
            (std::vector<std::string>{"ROCR_VISIBLE_DEVICES=GPU-00000000000000ab",
                                      "TF_LIMIT=memory=51539607552", "HSA_CU_MASK=0:0-113"}));
  Result<Partition> second = partitions.assign("5g.1gb", gpu());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->variables.back(), "HSA_CU_MASK=0:114-303") << "no unit is in both";
}

TEST(Partitions, NoneGetsWhatOthersHave) {
  Partitions partitions;
  ASSERT_TRUE(partitions.assign("1g.100gb", gpu()));
  EXPECT_EQ(partitions.assign("1g.93gb", gpu()).code(), Code::kResourceExhausted);
  ASSERT_TRUE(partitions.assign("1g.92gb", gpu()));
  EXPECT_EQ(partitions.assign("1g.1gb", gpu()).code(), Code::kResourceExhausted);
  Device other = gpu();
  other.uuid = other.visible = "GPU-00000000000000cd";
  EXPECT_TRUE(partitions.assign("8g.192gb", other)) << "another device";
  EXPECT_EQ(partitions.assign("1g.1gb", other).code(), Code::kResourceExhausted);
}

TEST(Partitions, ARemovedOneIsFree) {
  Partitions partitions;
  const std::string uuid = partitions.assign("4g.1gb", gpu()).value().uuid;
  ASSERT_TRUE(partitions.assign("4g.2gb", gpu()));
  EXPECT_FALSE(partitions.assign("1g.1gb", gpu()));
  EXPECT_TRUE(partitions.remove(uuid, gpu()).is_ok());
  EXPECT_EQ(partitions.remove(uuid, gpu()).code(), Code::kUnavailable) << "once";
  EXPECT_TRUE(partitions.assign("4g.1gb", gpu())) << "the free slices";
  EXPECT_TRUE(partitions.remove("4g.2gb", gpu()).is_ok()) << "by its template";
}

TEST(Partitions, ADeviceThatNoRuntimeCanBeToldOfHasNone) {
  Partitions partitions;
  Device old = gpu();
  old.visible.clear();
  EXPECT_EQ(partitions.assign("1g.1gb", old).code(), Code::kUnsupported);
  Device unknown = gpu();
  unknown.compute_units = 0;
  EXPECT_EQ(partitions.assign("1g.1gb", unknown).code(), Code::kUnsupported);
}

}  // namespace
}  // namespace tf::provider
