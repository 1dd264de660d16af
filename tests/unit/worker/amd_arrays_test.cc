// SPDX-License-Identifier: Apache-2.0
// Arrays, in front of a runtime that forgets offsets in allocations, and before 5.6 pitches.
#include "worker/base/amd_arrays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace tf::worker {
namespace {

constexpr std::size_t kWidth = 6, kHeight = 4, kElementBytes = 8;
constexpr std::size_t kRowBytes = kWidth * kElementBytes;

alignas(16) std::vector<std::byte> allocation(4096);
std::vector<std::byte> elements(kRowBytes* kHeight);  // of the one array

hipArray_t the_array() {
  static hipArray array{};
  return &array;
}

std::byte* begin_of(void* pointer) {
  auto* const at = static_cast<std::byte*>(pointer);
  const bool inside = at >= allocation.data() && at < allocation.data() + allocation.size();
  return inside ? allocation.data() : nullptr;
}

std::vector<hipMemcpy3DParms> seen;
int version = 0;

// Copies rows of the array from or to the begin of an allocation, and the position along x.
hipError_t copy(const hipMemcpy3DParms& p) {
  seen.push_back(p);
  if (p.dstArray != nullptr && p.srcArray != nullptr) return hipSuccess;
  const bool up = p.dstArray != nullptr;
  const hipPitchedPtr& memory = up ? p.srcPtr : p.dstPtr;
  std::byte* const begin = begin_of(memory.ptr);
  std::byte* at = begin != nullptr ? begin : static_cast<std::byte*>(memory.ptr);
  at += (up ? p.srcPos : p.dstPos).x / 4 * 4;
  const std::size_t pitch = version < 50'600'000 ? kRowBytes : memory.pitch;
  for (std::size_t y = 0; y < p.extent.height; ++y) {
    std::byte* const row = elements.data() + ((up ? p.dstPos : p.srcPos).y + y) * kRowBytes;
    std::memcpy(up ? row : at + y * pitch, up ? at + y * pitch : row, kRowBytes);
  }
  return hipSuccess;
}

protocol::HipTable amd_like_runtime() {
  protocol::HipTable hip;
  hip.hipRuntimeGetVersion = [](int* found) {
    *found = version;
    return hipSuccess;
  };
  hip.hipPointerGetAttribute = [](void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
    EXPECT_EQ(attribute, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR);
    std::byte* const begin = begin_of(pointer);
    std::memcpy(data, &begin, sizeof begin);
    return begin != nullptr ? hipSuccess : hipErrorInvalidValue;
  };
  hip.hipArray3DCreate = [](hipArray** array, const HIP_ARRAY3D_DESCRIPTOR*) {
    *array = new hipArray{};
    return hipSuccess;
  };
  hip.hipArrayDestroy = [](hipArray* array) {
    delete array;
    return hipSuccess;
  };
  hip.hipMemcpy3DAsync = [](const hipMemcpy3DParms* p, hipStream_t) { return copy(*p); };
  hip.hipGraphAddMemcpyNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                 const hipMemcpy3DParms* p) { return copy(*p); };
  return hip;
}

class AmdArrays : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    hip_ = amd_like_runtime();
    mend_amd_arrays(hip_);
    for (std::size_t i = 0; i < allocation.size(); ++i)
      allocation[i] = static_cast<std::byte>(i * 7 + i / 256);
    seen.clear();
    version = 50'200'000;
    std::fill(elements.begin(), elements.end(), std::byte{0});
  }
  hipError_t run(const hipMemcpy3DParms& p) {
    return GetParam() ? hip_.hipGraphAddMemcpyNode(nullptr, nullptr, nullptr, 0, &p)
                      : hip_.hipMemcpy3DAsync(&p, nullptr);
  }
  hipMemcpy3DParms parameters(std::byte* memory, std::size_t pitch, bool up) const {
    hipMemcpy3DParms p{};
    (up ? p.dstArray : p.srcArray) = the_array();
    (up ? p.srcPtr : p.dstPtr) = {memory, pitch, kRowBytes, kHeight};
    p.extent = {kWidth, kHeight, 1};
    return p;
  }

  protocol::HipTable hip_;
};
INSTANTIATE_TEST_SUITE_P(StreamAndGraph, AmdArrays, ::testing::Bool());

TEST_P(AmdArrays, CopiesGoWhereTheAddressSays) {
  for (const std::size_t offset : {std::size_t{0}, std::size_t{4}, std::size_t{1024}}) {
    const std::vector<std::byte> before = allocation;
    ASSERT_EQ(run(parameters(allocation.data() + offset, kRowBytes, true)), hipSuccess);
    EXPECT_EQ(std::memcmp(elements.data(), &before[offset], elements.size()), 0) << offset;
    ASSERT_EQ(run(parameters(allocation.data() + 2048 + offset, kRowBytes, false)), hipSuccess);
    EXPECT_EQ(std::memcmp(&allocation[2048 + offset], &before[offset], elements.size()), 0) << offset;
    EXPECT_EQ(std::memcmp(allocation.data(), before.data(), 2048), 0) << offset;
    EXPECT_EQ(seen.size(), 2u) << "rows without gaps are one copy";
    seen.clear();
  }
}

// A node of a graph is one copy, so one of several rows is refused.
TEST_P(AmdArrays, RowsWithGapsAreCopiedOneByOne) {
  const std::vector<std::byte> before = allocation;
  const bool graph = GetParam();
  ASSERT_EQ(run(parameters(allocation.data() + 16, 64, true)), graph ? hipErrorInvalidValue : hipSuccess);
  ASSERT_EQ(run(parameters(allocation.data() + 2048, 80, false)), graph ? hipErrorInvalidValue : hipSuccess);
  for (std::size_t y = 0; y < kHeight && !graph; ++y) {
    EXPECT_EQ(std::memcmp(&elements[y * kRowBytes], &before[16 + 64 * y], kRowBytes), 0) << y;
    EXPECT_EQ(std::memcmp(&allocation[2048 + 80 * y], &before[16 + 64 * y], kRowBytes), 0) << y;
    EXPECT_EQ(std::memcmp(&allocation[2048 + 80 * y + kRowBytes], &before[2048 + 80 * y + kRowBytes],
                          80 - kRowBytes),
              0)
        << "the gap behind row " << y;
  }
  hipMemcpy3DParms row = parameters(allocation.data() + 16, 64, true);
  row.extent.height = 1;
  EXPECT_EQ(run(row), hipSuccess);
  seen.clear();
  hip_ = amd_like_runtime();
  mend_amd_arrays(hip_);
  version = 50'600'000;
  ASSERT_EQ(run(parameters(allocation.data() + 16, 64, true)), hipSuccess);
  EXPECT_EQ(seen.size(), 1u) << "it respects pitches";
}

TEST_P(AmdArrays, WhatNoPositionSaysIsRefused) {
  EXPECT_EQ(run(parameters(allocation.data() + 1025, kRowBytes, true)), hipErrorInvalidValue);
  EXPECT_EQ(run(parameters(allocation.data() + 1025, kRowBytes, false)), hipErrorInvalidValue);
}

TEST_P(AmdArrays, MemoryThatTheRuntimeDoesNotKnowStaysAsItIs) {
  std::vector<std::byte> pageable(kRowBytes * kHeight, std::byte{9});
  ASSERT_EQ(run(parameters(pageable.data(), kRowBytes, true)), hipSuccess);
  EXPECT_EQ(elements, pageable);
}

TEST_P(AmdArrays, NewerRuntimesGetWhatWasAskedFor) {
  version = 60'100'000;
  ASSERT_EQ(run(parameters(allocation.data() + 1028, 64, true)), hipSuccess);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen.back().srcPtr.ptr, allocation.data() + 1028);
  EXPECT_EQ(seen.back().srcPos.x, 0u);
}

// They count pitches in elements.
TEST_P(AmdArrays, RowsBetweenTwoElementsAreCopiedOneByOne) {
  version = 70'200'000;
  const bool graph = GetParam();
  constexpr std::size_t kPitch = kRowBytes + kElementBytes / 2;
  ASSERT_EQ(run(parameters(&allocation[1028], kPitch, false)), graph ? hipErrorInvalidValue : hipSuccess);
  ASSERT_EQ(seen.size(), graph ? 0u : kHeight);
  for (std::size_t y = 0; y < seen.size(); ++y) {
    EXPECT_EQ(seen[y].dstPtr.ptr, &allocation[1028 + y * kPitch]);
    EXPECT_EQ(seen[y].srcPos.y, y);
    EXPECT_EQ(seen[y].extent.height, 1u);
  }
  hipMemcpy3DParms slices = parameters(&allocation[1024], kElementBytes * 3 / 2, true);
  slices.extent = {1, 1, 3};
  slices.srcPtr.xsize = kElementBytes;
  slices.srcPtr.ysize = 1;
  seen.clear();
  EXPECT_EQ(run(slices), graph ? hipErrorInvalidValue : hipSuccess);
  EXPECT_EQ(seen.size(), graph ? 0u : 3u);
}

// Nothing of a copy is made whose later rows cannot be.
TEST_P(AmdArrays, RowsBetweenTwoWordsAreRefused) {
  for (const int each : {50'200'000, 60'100'000}) {
    hip_ = amd_like_runtime();
    mend_amd_arrays(hip_);
    version = each;
    EXPECT_EQ(run(parameters(&allocation[1024], kRowBytes + 2, true)), hipErrorInvalidValue) << each;
    EXPECT_EQ(run(parameters(&allocation[1026], kRowBytes, false)), hipErrorInvalidValue) << each;
  }
  EXPECT_TRUE(seen.empty());
}

// Layers of lines lie along y, each is a copy, and in memory they lie a slice apart.
TEST_P(AmdArrays, LayersOfLinesAreRows) {
  const bool graph = GetParam();
  hipArray_t made[2] = {};
  const HIP_ARRAY3D_DESCRIPTOR of_lines{kWidth, 0, 4, HIP_AD_FORMAT_UNSIGNED_INT32, 2, hipArrayLayered};
  const HIP_ARRAY3D_DESCRIPTOR of_planes{kWidth, 2, 4, HIP_AD_FORMAT_UNSIGNED_INT32, 2, hipArrayLayered};
  ASSERT_EQ(hip_.hipArray3DCreate(&made[0], &of_lines), hipSuccess);
  ASSERT_EQ(hip_.hipArray3DCreate(&made[1], &of_planes), hipSuccess);
  hipMemcpy3DParms p = parameters(allocation.data() + 64, 64, true);
  p.dstArray = made[0];
  p.dstPos.z = 1;
  p.srcPtr.ysize = 3;
  p.extent = {kWidth, 1, graph ? 1u : 2u};
  ASSERT_EQ(run(p), hipSuccess);
  ASSERT_EQ(seen.size(), graph ? 1u : 2u);
  for (std::size_t layer = 0; layer < seen.size(); ++layer) {
    EXPECT_EQ(seen[layer].dstPos.y, 1 + layer);
    EXPECT_EQ(seen[layer].dstPos.z, 0u);
    EXPECT_EQ(seen[layer].srcPos.x, 64 + layer * 64 * 3);
    EXPECT_EQ(seen[layer].extent.height * seen[layer].extent.depth, 1u);
  }
  hipMemcpy3DParms across{};  // to an array that counts otherwise
  across.srcArray = made[0];
  across.dstArray = made[1];
  across.srcPos.z = 1;
  across.dstPos.y = 1;
  across.extent = {kWidth, 1, 3};
  seen.clear();
  EXPECT_EQ(run(across), graph ? hipErrorInvalidValue : hipSuccess);
  if (!graph) {
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[2].srcPos.y, 3u);
    EXPECT_EQ(seen[2].dstPos.y, 1u);
    EXPECT_EQ(seen[2].dstPos.z, 2u);
  }
  for (hipArray_t each : made) EXPECT_EQ(hip_.hipArrayDestroy(each), hipSuccess);
}

TEST(AmdMipmappedArrays, ADeviceWithoutThemSaysSo) {
  protocol::HipTable hip = amd_like_runtime();
  hip.hipMipmappedArrayCreate = [](hipMipmappedArray_t*, HIP_ARRAY3D_DESCRIPTOR*, unsigned) {
    return hipErrorInvalidValue;
  };
  static hipError_t answer;
  answer = hipErrorNotSupported;
  hip.hipMallocMipmappedArray = [](hipMipmappedArray_t*, const hipChannelFormatDesc*, hipExtent, unsigned,
                                   unsigned) { return answer; };
  hip.hipMipmappedArrayDestroy = [](hipMipmappedArray_t) { return hipSuccess; };
  const protocol::HipTable own = hip;
  version = 50'200'000;
  mend_amd_arrays(hip);
  EXPECT_EQ(hip.hipMipmappedArrayCreate(nullptr, nullptr, 1), hipErrorNotSupported);
  answer = hipSuccess;
  EXPECT_EQ(hip.hipMipmappedArrayCreate(nullptr, nullptr, 1), hipErrorInvalidValue) << "there are some";
  answer = hipErrorNotSupported;
  version = 60'100'000;
  hip = own;
  mend_amd_arrays(hip);
  EXPECT_EQ(hip.hipMipmappedArrayCreate(nullptr, nullptr, 1), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::worker
