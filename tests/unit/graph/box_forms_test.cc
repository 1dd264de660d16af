// SPDX-License-Identifier: Apache-2.0
// The forms of row and box copies as one.
#include "hipcore/graph/box_forms.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tf::graph {
namespace {

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
  ASSERT_EQ(read_parameters(p, work), hipSuccess);
  EXPECT_EQ(work.source.pitch, 20u) << "rows that follow each other";
  EXPECT_EQ(work.source.memory(), at(0x7000 + 2 * 20 + 4));
  EXPECT_EQ(work.target.memory(), at(0x8000));
  p.dstMemoryType = hipMemoryTypeArray;
  EXPECT_EQ(read_parameters(p, work), hipErrorNotSupported);
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
  ASSERT_EQ(read_parameters(p, work), hipSuccess);
  EXPECT_EQ(work.source.memory(), at(0x1000 + 3 * 1280 + 2 * 128 + 1));
  EXPECT_EQ(work.source.slice, 1280u);
  EXPECT_EQ(work.target.pitch, 32u);
  EXPECT_EQ(work.target.slice, 128u) << "slices that follow each other";
  EXPECT_EQ(work.depth, 2u);
  p.srcPitch = 16;
  EXPECT_EQ(read_parameters(p, work), hipErrorInvalidValue);
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
    return read_parameters(moved, work);
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

}  // namespace
}  // namespace tf::graph
