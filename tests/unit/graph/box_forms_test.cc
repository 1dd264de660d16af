// SPDX-License-Identifier: Apache-2.0
// The forms of row and box copies as one.
#include "hipcore/graph/box_forms.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "hipcore/abi/layouts.h"
#include "hipcore/graph/array_box.h"

namespace tf::graph {
namespace {

// One array, of 16 x 8 x 4 elements of 4 bytes.
const array::Place kPlace{0x100000, 256, 4096, 64, 8, 4, 4};
hipArray_t array_handle() { return reinterpret_cast<hipArray_t>(0x42); }
class OneArray final : public array::Finder {
 public:
  std::optional<array::Place> find(hipArray_const_t array) const override {
    return array == array_handle() ? std::optional(kPlace) : std::nullopt;
  }
  std::optional<array::FoundArray> at(std::uint64_t address) const override {
    if (address < kPlace.base || address >= kPlace.base + kPlace.bytes()) return std::nullopt;
    return array::FoundArray{array_handle(), kPlace};
  }
};
const OneArray kArrays;

// Of the program's structs.
template <typename Parameters>
hipError_t read_parameters(const Parameters& theirs, const array::Finder& arrays, CopyWork& work) {
  return graph::read_parameters(abi::from_program(theirs), arrays, work);
}

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

TEST(Boxes, RowsKeepTheirPitches) {
  CopyWork work;
  ASSERT_EQ(read_rows(at(0x1000), 64, at(0x2000), 32, 16, 3, hipMemcpyDefault, work), hipSuccess);
  EXPECT_EQ(work.target.memory(), at(0x1000));
  EXPECT_EQ(work.source.memory(), at(0x2000));
  EXPECT_EQ(work.target.pitch, 64u);
  EXPECT_EQ(work.source.pitch, 32u);
  EXPECT_EQ(work.width, 16u);
  EXPECT_EQ(work.height, 3u);
  EXPECT_EQ(work.depth, 1u);
  EXPECT_EQ(read_rows(at(0x1000), 8, at(0x2000), 32, 16, 3, hipMemcpyDefault, work),
            hipErrorInvalidPitchValue);
  EXPECT_EQ(read_rows(nullptr, 64, at(0x2000), 32, 16, 3, hipMemcpyDefault, work), hipErrorInvalidValue);
}

TEST(Boxes, DriverRowsTakeTheSideThatIsNamed) {
  hip_Memcpy2D p{};
  p.srcMemoryType = hipMemoryTypeHost;
  p.srcHost = at(0x7000);
  p.srcDevice = at(0x1);
  p.dstMemoryType = hipMemoryTypeDevice;
  p.dstDevice = at(0x8000);
  p.srcXInBytes = 4;
  p.srcY = 2;
  p.WidthInBytes = 16;
  p.Height = 2;
  CopyWork work;
  ASSERT_EQ(read_parameters(p, kArrays, work), hipSuccess);
  EXPECT_EQ(work.source.pitch, 20u) << "rows that follow each other";
  EXPECT_EQ(work.source.memory(), at(0x7000 + 2 * 20 + 4));
  EXPECT_EQ(work.target.memory(), at(0x8000));
  p.dstMemoryType = hipMemoryTypeArray;
  EXPECT_EQ(read_parameters(p, kArrays, work), hipErrorInvalidValue) << "no array";
  p.dstArray = array_handle();
  p.dstXInBytes = 8;
  p.dstY = 6;
  ASSERT_EQ(read_parameters(p, kArrays, work), hipSuccess);
  EXPECT_EQ(work.target.address, 0x100000u + 6 * 256 + 8);
  EXPECT_EQ(work.target.pitch, 256u);
  p.dstY = 7;
  EXPECT_EQ(read_parameters(p, kArrays, work), hipErrorInvalidValue) << "beyond the last row";
}

TEST(Boxes, DriverBoxesBeginAtTheirPosition) {
  HIP_MEMCPY3D p{};
  p.srcMemoryType = p.dstMemoryType = hipMemoryTypeDevice;
  p.srcDevice = at(0x1000);
  p.dstDevice = at(0x9000);
  p.srcPitch = 128;
  p.srcHeight = 10;
  p.srcXInBytes = 1;
  p.srcY = 2;
  p.srcZ = 3;
  p.WidthInBytes = 32;
  p.Height = 4;
  p.Depth = 2;
  CopyWork work;
  ASSERT_EQ(read_parameters(p, kArrays, work), hipSuccess);
  EXPECT_EQ(work.source.memory(), at(0x1000 + 3 * 1280 + 2 * 128 + 1));
  EXPECT_EQ(work.source.slice, 1280u);
  EXPECT_EQ(work.target.pitch, 32u);
  EXPECT_EQ(work.target.slice, 128u) << "slices that follow each other";
  EXPECT_EQ(work.depth, 2u);
  p.srcPitch = 16;
  EXPECT_EQ(read_parameters(p, kArrays, work), hipErrorInvalidValue);
}

// 16 bytes x 2 rows x 2 slices in memory of 3 rows of 20 bytes a slice.
TEST(Boxes, ABoxLiesInsideItsRowsAndSlices) {
  HIP_MEMCPY3D p{};
  p.srcMemoryType = p.dstMemoryType = hipMemoryTypeDevice;
  p.srcDevice = p.dstDevice = at(0x1000);
  p.srcPitch = p.dstPitch = 20;
  p.srcHeight = p.dstHeight = 3;
  p.WidthInBytes = 16;
  p.Height = p.Depth = 2;
  using Member = unsigned HIP_MEMCPY3D::*;
  const auto read = [&p](Member member, unsigned value) {
    HIP_MEMCPY3D moved = p;
    moved.*member = value;
    CopyWork work;
    return read_parameters(moved, kArrays, work);
  };
  for (const Member x : {&HIP_MEMCPY3D::srcXInBytes, &HIP_MEMCPY3D::dstXInBytes}) {
    EXPECT_EQ(read(x, 4), hipSuccess);
    EXPECT_EQ(read(x, 5), hipErrorInvalidValue);
  }
  for (const Member y : {&HIP_MEMCPY3D::srcY, &HIP_MEMCPY3D::dstY}) {
    EXPECT_EQ(read(y, 1), hipSuccess);
    EXPECT_EQ(read(y, 2), hipErrorInvalidValue);
  }
  p.Depth = 1;
  EXPECT_EQ(read(&HIP_MEMCPY3D::srcY, 2), hipSuccess) << "of a single slice nobody knows the rows";
}

// In elements where there is an array, and back.
TEST(Boxes, ThreeDimensionalCopiesCountElementsOfArrays) {
  hipMemcpy3DParms p{};
  p.dstArray = array_handle();
  p.dstPos = make_hipPos(3, 2, 1);
  p.srcPtr = make_hipPitchedPtr(at(0x7000), 100, 40, 5);
  p.srcPos = make_hipPos(3, 0, 0);
  p.extent = make_hipExtent(10, 4, 2);
  p.kind = hipMemcpyHostToDevice;
  CopyWork work;
  ASSERT_EQ(read_copy(p, kArrays, work), hipSuccess);
  EXPECT_EQ(work.width, 40u);
  EXPECT_EQ(work.target.address, 0x100000u + 4096 + 2 * 256 + 12);
  EXPECT_EQ(work.target.slice, 4096u);
  EXPECT_EQ(work.source.address, 0x7000u + 3);
  EXPECT_EQ(work.source.slice, 500u);
  hipMemcpy3DParms told{};
  write_copy(work, kArrays, told);
  EXPECT_EQ(told.dstArray, array_handle());
  EXPECT_EQ(told.dstPos.x, 3u);
  EXPECT_EQ(told.dstPos.z, 1u);
  EXPECT_EQ(told.srcPtr.ptr, at(0x7000)) << "as it was given";
  EXPECT_EQ(told.srcPos.x, 3u);
  EXPECT_EQ(told.extent.width, 10u);
  work.asked.reset();  // a copy of another function
  write_copy(work, kArrays, told);
  EXPECT_EQ(told.dstArray, array_handle());
  EXPECT_EQ(told.dstPos.x, 3u);
  EXPECT_EQ(told.srcPtr.ptr, at(0x7003));
  EXPECT_EQ(told.extent.width, 10u);
  p.extent.depth = 4;
  EXPECT_EQ(read_copy(p, kArrays, work), hipErrorInvalidValue);
}

// Rows that are slices of an array, as flattening leaves them, become slices again.
TEST(Boxes, OneCopyPerArrayBox) {
  Box box{{0x100000 + 8, 4096, 4096}, {0x7000, 64, 64}, 16, 3, 1};
  const auto one = as_one_copy(box, &kPlace, nullptr);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->box.height, 1u);
  EXPECT_EQ(one->box.depth, 3u);
  EXPECT_EQ(one->target->x, 8u);
  EXPECT_FALSE(one->source.has_value());
  box.height = 5;
  EXPECT_FALSE(as_one_copy(box, &kPlace, nullptr)) << "more slices than the array has";
  box = {{0x100000, 256, 4096}, {0x7000, 64, 200}, 16, 3, 2};
  EXPECT_FALSE(as_one_copy(box, &kPlace, nullptr)) << "slices of memory that are no whole rows apart";
  BoxLayers layers(box);
  EXPECT_TRUE(as_one_copy(*layers.next(), &kPlace, nullptr).has_value());
  EXPECT_EQ(layers.next()->source.address, 0x7000u + 200);
  EXPECT_FALSE(layers.next().has_value());
  box = {{0x100000 + 60, 256, 4096}, {0x7000, 64, 200}, 16, 1, 1};
  EXPECT_FALSE(as_one_copy(box, &kPlace, nullptr)) << "beyond the end of the row";
}

}  // namespace
}  // namespace tf::graph
