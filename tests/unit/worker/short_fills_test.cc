// SPDX-License-Identifier: Apache-2.0
// Fills that AMD's runtime would continue behind their end, in front of a runtime that tells of each one.
#include "worker/base/short_fills.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace tf::worker {
namespace {

// Lines that would go on for ever.
int runaways = 0;

template <typename Value>
hipError_t fill_line(void* target, Value value, std::size_t count) {
  const std::size_t to_cut = -reinterpret_cast<std::uintptr_t>(target) % 8;
  if (count != 0 && count * sizeof value < to_cut) ++runaways;
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char*>(target) + i * sizeof value, &value, sizeof value);
  return hipSuccess;
}

hipError_t copy_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height) {
  for (std::size_t y = 0; y < height; ++y)
    std::memcpy(static_cast<char*>(target) + y * target_pitch,
                static_cast<const char*>(source) + y * source_pitch, width);
  return hipSuccess;
}

// Nodes run when they are added, which has to be in the order of their dependencies: a node is its number.
hipError_t add_node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count) {
  auto& last = *reinterpret_cast<std::uintptr_t*>(graph);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(before[0]), last);
  *node = reinterpret_cast<hipGraphNode_t>(++last);
  return hipSuccess;
}

protocol::HipTable amd_like_runtime() {
  protocol::HipTable hip;
  hip.hipHostMalloc = [](void** memory, std::size_t bytes, unsigned) {
    static std::vector<char> table(bytes);
    *memory = table.data();
    return hipSuccess;
  };
  hip.hipMemsetAsync = [](void* target, int value, std::size_t bytes, hipStream_t) {
    return fill_line(target, static_cast<std::uint8_t>(value), bytes);
  };
  hip.hipMemsetD16Async = [](void* target, unsigned short value, std::size_t count, hipStream_t) {
    return fill_line(target, value, count);
  };
  hip.hipMemsetD32Async = [](void* target, int value, std::size_t count, hipStream_t) {
    return fill_line(target, value, count);
  };
  hip.hipMemset2DAsync = [](void* target, std::size_t pitch, int value, std::size_t width, std::size_t height,
                            hipStream_t) {
    if (pitch == width) return fill_line(target, static_cast<std::uint8_t>(value), width * height);
    for (std::size_t y = 0; y < height; ++y)
      std::memset(static_cast<char*>(target) + y * pitch, value, width);
    return hipSuccess;
  };
  hip.hipMemset3DAsync = [](hipPitchedPtr target, int value, hipExtent extent, hipStream_t) {
    EXPECT_TRUE(extent.width == target.pitch && extent.height == target.ysize);
    return fill_line(target.ptr, static_cast<std::uint8_t>(value),
                     extent.width * extent.height * extent.depth);
  };
  hip.hipMemcpy2DAsync = [](void* target, std::size_t target_pitch, const void* source,
                            std::size_t source_pitch, std::size_t width, std::size_t height, hipMemcpyKind,
                            hipStream_t) {
    return copy_rows(target, target_pitch, source, source_pitch, width, height);
  };
  hip.hipGraphAddMemsetNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before,
                                 std::size_t count, const hipMemsetParams* fill) {
    EXPECT_EQ(fill->elementSize, 2u);
    EXPECT_EQ(fill->height, 1u) << "AMD's would write another value";
    EXPECT_EQ(fill_line(fill->dst, static_cast<std::uint16_t>(fill->value), fill->width), hipSuccess);
    return add_node(node, graph, before, count);
  };
  hip.hipGraphAddMemcpyNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before,
                                 std::size_t count, const hipMemcpy3DParms* copy) {
    EXPECT_EQ(copy_rows(copy->dstPtr.ptr, copy->dstPtr.pitch, copy->srcPtr.ptr, copy->srcPtr.pitch,
                        copy->extent.width, copy->extent.height),
              hipSuccess);
    return add_node(node, graph, before, count);
  };
  return hip;
}

const protocol::HipTable& mended() {
  static const protocol::HipTable hip = [] {
    protocol::HipTable table = amd_like_runtime();
    mend_short_fills(table);
    return table;
  }();
  return hip;
}

class ShortFills : public ::testing::Test {
 protected:
  using Fill = std::function<hipError_t(char* target, std::size_t count)>;

  // Every count of elements at every address of a word that has their alignment.
  void expect_all(const std::string& element, const Fill& fill) {
    for (std::size_t offset = 8; offset < 16; offset += element.size())
      for (std::size_t count = 0; count < 20; ++count) {
        alignas(8) char memory[128];
        std::memset(memory, '.', sizeof memory);
        std::string wanted(memory, sizeof memory);
        for (std::size_t i = 0; i < count; ++i)
          wanted.replace(offset + i * element.size(), element.size(), element);
        runaways = 0;
        EXPECT_EQ(fill(memory + offset, count), hipSuccess);
        EXPECT_EQ(std::string(memory, sizeof memory), wanted) << count << " at " << offset;
        EXPECT_EQ(runaways, 0) << count << " at " << offset;
      }
  }
};

TEST_F(ShortFills, OfBytes) {
  expect_all("a", [](char* target, std::size_t count) {
    return mended().hipMemsetAsync(target, 0x100 | 'a', count, nullptr);
  });
}

TEST_F(ShortFills, OfLargerElements) {
  expect_all("ab", [](char* target, std::size_t count) {
    return mended().hipMemsetD16Async(target, 'a' | 'b' << 8, count, nullptr);
  });
  expect_all("abcd", [](char* target, std::size_t count) {
    return mended().hipMemsetD32Async(target, 'a' | 'b' << 8 | 'c' << 16 | 'd' << 24, count, nullptr);
  });
}

TEST_F(ShortFills, OfRowsAndSlicesWithoutGaps) {
  expect_all("a", [](char* target, std::size_t count) {
    return mended().hipMemset2DAsync(target, 1, 'a', 1, count, nullptr);
  });
  expect_all("a", [](char* target, std::size_t count) {
    return mended().hipMemset3DAsync({target, count, count, 1}, 'a', {count, 1, 1}, nullptr);
  });
}

TEST_F(ShortFills, RowsWithGapsAreTheRuntimes) {
  alignas(8) char memory[] = "..........";
  EXPECT_EQ(mended().hipMemset2DAsync(memory + 1, 3, 'a', 2, 2, nullptr), hipSuccess);
  EXPECT_STREQ(memory, ".aa.aa....");
}

TEST_F(ShortFills, InGraphsTheLastNodeStandsForAll) {
  std::uintptr_t last = 1;
  expect_all("ab", [&](char* target, std::size_t count) {
    const auto before = reinterpret_cast<hipGraphNode_t>(last);
    hipMemsetParams fill{};
    fill.dst = target;
    fill.elementSize = 2;
    fill.value = 'a' | 'b' << 8;
    fill.width = count;
    fill.height = 1;
    hipGraphNode_t node = nullptr;
    const hipError_t error =
        mended().hipGraphAddMemsetNode(&node, reinterpret_cast<hipGraph_t>(&last), &before, 1, &fill);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node), last);
    return error;
  });
}

TEST_F(ShortFills, EachRowOfAGraphIsALine) {
  alignas(8) char memory[] = "................";
  std::uintptr_t last = 1;
  const auto before = reinterpret_cast<hipGraphNode_t>(last);
  hipMemsetParams fill{};
  fill.dst = memory + 2;
  fill.elementSize = 2;
  fill.value = 'a' | 'b' << 8;
  fill.width = 1;
  fill.height = 3;
  fill.pitch = 4;
  hipGraphNode_t node = nullptr;
  EXPECT_EQ(mended().hipGraphAddMemsetNode(&node, reinterpret_cast<hipGraph_t>(&last), &before, 1, &fill),
            hipSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node), last);
  EXPECT_STREQ(memory, "..ab..ab..ab....");
}

TEST_F(ShortFills, TooManyRowsOfAGraphAreRefused) {
  alignas(8) char memory[] = "........";
  std::uintptr_t last = 1;
  hipMemsetParams fill{};
  fill.dst = memory;
  fill.elementSize = 1;
  fill.value = 'a';
  fill.width = 1;
  fill.height = (std::size_t{1} << 16) + 1;
  fill.pitch = 2;
  hipGraphNode_t node = nullptr;
  EXPECT_EQ(mended().hipGraphAddMemsetNode(&node, reinterpret_cast<hipGraph_t>(&last), nullptr, 0, &fill),
            hipErrorNotSupported);
  EXPECT_EQ(last, 1U);
  EXPECT_STREQ(memory, "........");
}

}  // namespace
}  // namespace tf::worker
