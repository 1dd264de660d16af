// SPDX-License-Identifier: Apache-2.0
// Argument packing by metadata: the mixed kernel of the facts, padding, the `extra` form, hostile layouts.
#include "proxy/module/kernel_layout.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tf::proxy {
namespace {

KernelLayout mixed() {
  KernelLayout layout;
  layout.arguments = {{0, 16}, {16, 2}, {18, 1}, {24, 8}, {32, 8}};
  layout.argument_bytes = 40;
  return layout;
}

TEST(KernelLayout, PacksByOffsetsAndZeroesGaps) {
  char block[16];
  std::memset(block, 7, sizeof block);
  short two = 0x1234;
  char one = 9;
  std::uint64_t eight = 0x1122334455667788;
  std::uint64_t nine = 99;
  void* arguments[] = {block, &two, &one, &eight, &nine};
  PackedArguments packed;
  ASSERT_EQ(packed.pack(mixed(), arguments), hipSuccess);
  ASSERT_EQ(packed.bytes().size(), 40u);
  const std::byte* bytes = packed.bytes().data();
  EXPECT_EQ(std::memcmp(bytes, block, 16), 0);
  EXPECT_EQ(std::memcmp(bytes + 16, &two, 2), 0);
  EXPECT_EQ(bytes[18], std::byte{9});
  for (int i = 19; i < 24; ++i) EXPECT_EQ(bytes[i], std::byte{0});
  EXPECT_EQ(std::memcmp(bytes + 24, &eight, 8), 0);
}

TEST(KernelLayout, MissingPointers) {
  PackedArguments packed;
  EXPECT_EQ(packed.pack(mixed(), nullptr), hipErrorInvalidValue);
  int value = 0;
  void* arguments[] = {&value, nullptr, nullptr, nullptr, nullptr};
  KernelLayout layout;
  layout.arguments = {{0, 4}, {4, 4}};
  layout.argument_bytes = 8;
  EXPECT_EQ(packed.pack(layout, arguments), hipErrorInvalidValue);
  EXPECT_EQ(packed.pack(KernelLayout{}, nullptr), hipSuccess) << "no arguments, none needed";
}

TEST(KernelLayout, LargeArguments) {
  KernelLayout layout;
  layout.arguments = {{0, 4000}};
  layout.argument_bytes = 4000;
  std::vector<std::byte> large(4000, std::byte{5});
  void* arguments[] = {large.data()};
  PackedArguments packed;
  ASSERT_EQ(packed.pack(layout, arguments), hipSuccess);
  EXPECT_EQ(std::memcmp(packed.bytes().data(), large.data(), 4000), 0);
}

TEST(KernelLayout, Extra) {
  std::uint64_t values[5] = {1, 2, 3, 4, 5};
  std::size_t bytes = sizeof values;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, values, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  PackedArguments packed;
  ASSERT_EQ(packed.pack_extra(mixed(), extra), hipSuccess);
  EXPECT_EQ(std::memcmp(packed.bytes().data(), values, 40), 0);
  void* unknown[] = {values, values, HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(packed.pack_extra(mixed(), unknown), hipErrorInvalidValue);
}

TEST(KernelLayout, HostileLayouts) {
  KernelLayout layout = mixed();
  EXPECT_TRUE(is_sane(layout));
  layout.arguments.push_back({36, 8});
  EXPECT_FALSE(is_sane(layout)) << "overlap";
  layout = mixed();
  layout.argument_bytes = 39;
  EXPECT_FALSE(is_sane(layout)) << "ends before its last argument";
  layout = mixed();
  layout.arguments.push_back({0xfffffff0, 0x20});
  layout.argument_bytes = 0xffffffff;
  EXPECT_FALSE(is_sane(layout)) << "wraps";
}

}  // namespace
}  // namespace tf::proxy
