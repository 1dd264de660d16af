// SPDX-License-Identifier: Apache-2.0
// Copies of rows and boxes, on a driver that only remembers.
#include "tests/unit/cuda/fixture.h"

namespace tf::fake_cuda {
namespace {

constexpr std::size_t kPitch = 20;
constexpr std::size_t kRows = 3;  // of a slice

hipMemcpy3DParms box() {
  hipMemcpy3DParms p{};
  p.srcPtr = make_hipPitchedPtr(at(0x4000), kPitch, kPitch, kRows);
  p.dstPtr = make_hipPitchedPtr(at(0x6000), kPitch, kPitch, kRows);
  p.extent = make_hipExtent(16, 2, 2);
  p.kind = hipMemcpyDeviceToDevice;
  return p;
}

HIP_MEMCPY3D driver_box() {
  HIP_MEMCPY3D p{};
  p.srcMemoryType = p.dstMemoryType = hipMemoryTypeDevice;
  p.srcDevice = at(0x4000);
  p.dstDevice = at(0x6000);
  p.srcPitch = p.dstPitch = kPitch;
  p.srcHeight = p.dstHeight = kRows;
  p.WidthInBytes = 16;
  p.Height = p.Depth = 2;
  return p;
}

hip_Memcpy2D driver_rows() {
  hip_Memcpy2D p{};
  p.srcMemoryType = p.dstMemoryType = hipMemoryTypeDevice;
  p.srcDevice = at(0x4000);
  p.dstDevice = at(0x6000);
  p.srcPitch = p.dstPitch = kPitch;
  p.WidthInBytes = 16;
  p.Height = 2;
  return p;
}

TEST_F(CudaRuntime, ABoxIsWhereItsPositionsSay) {
  auto p = box();
  p.srcPos = make_hipPos(4, 1, 1);
  EXPECT_EQ(hipMemcpy3DAsync(&p, stream_), hipSuccess);
  EXPECT_EQ(driver_->copy_3d.source_device, at(0x4000 + (kRows + 1) * kPitch + 4));
  EXPECT_EQ(driver_->copy_3d.target_device, at(0x6000));
  auto rows = driver_rows();
  rows.dstXInBytes = 4;
  rows.dstY = 7;
  EXPECT_EQ(hipMemcpyParam2DAsync(&rows, stream_), hipSuccess);
  EXPECT_EQ(driver_->copy_2d.target_device, at(0x6000 + 7 * kPitch + 4));
}

// The driver is not told of positions, so it cannot see this.
TEST_F(CudaRuntime, ABoxThatReachesIntoTheNextRowOrSliceIsRefused) {
  for (const hipPos& position : {make_hipPos(5, 0, 0), make_hipPos(0, 2, 0)}) {
    auto p = box();
    p.srcPos = position;
    EXPECT_EQ(hipMemcpy3D(&p), hipErrorInvalidValue);
    p = box();
    p.dstPos = position;
    EXPECT_EQ(hipMemcpy3DAsync(&p, stream_), hipErrorInvalidValue);
    auto driver = driver_box();
    driver.srcXInBytes = static_cast<unsigned>(position.x);
    driver.srcY = static_cast<unsigned>(position.y);
    EXPECT_EQ(hipDrvMemcpy3D(&driver), hipErrorInvalidValue);
    driver = driver_box();
    driver.dstXInBytes = static_cast<unsigned>(position.x);
    driver.dstY = static_cast<unsigned>(position.y);
    EXPECT_EQ(hipDrvMemcpy3DAsync(&driver, stream_), hipErrorInvalidValue);
  }
  auto rows = driver_rows();
  rows.srcXInBytes = 5;
  EXPECT_EQ(hipMemcpyParam2D(&rows), hipErrorInvalidValue);
  rows = driver_rows();
  rows.dstXInBytes = 5;
  EXPECT_EQ(hipMemcpyParam2DAsync(&rows, stream_), hipErrorInvalidValue);
  for (const char* name : {"Memcpy3D", "Memcpy3DAsync", "Memcpy2DUnaligned", "Memcpy2DAsync"})
    EXPECT_EQ(calls(name), 0) << name;
}

}  // namespace
}  // namespace tf::fake_cuda
