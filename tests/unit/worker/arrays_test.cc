// SPDX-License-Identifier: Apache-2.0
// Clients that name arrays, positions and textures which are not theirs.
#include <gtest/gtest.h>

#include "hipcore/array/place.h"
#include "session_rig.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kBase = array::kNamesBegin + (1 << 20);
constexpr std::uint64_t kPitch = 256;  // of 16 floats, with a gap
constexpr std::uint64_t kSlice = 9 * kPitch;

class ArraysOf : public ::testing::Test {
 protected:
  void SetUp() override { rig_.start(); }

  // 16 x 8 x 4 floats.
  static protocol::CreateArrayRequest wish(std::uint64_t base) {
    protocol::CreateArrayRequest request{};
    request.base = base;
    request.width = 16;
    request.height = 8;
    request.depth = 4;
    request.format = HIP_AD_FORMAT_FLOAT;
    request.channels = 1;
    request.levels = 1;
    return request;
  }
  // From `memory`, on the device.
  hipError_t copy(std::uint64_t target, std::uint64_t pitch, std::uint64_t slice, std::uint64_t memory,
                  std::uint64_t width, std::uint64_t height, std::uint64_t depth) {
    return rig_.call(protocol::CopyBoxOnDeviceRequest{target, pitch, slice, memory, width, width * height,
                                                      width, height, depth, 0});
  }

  SessionRig rig_{TF_CPU_RUNTIME};
};

TEST_F(ArraysOf, OnlyShapesAndNamesThatCanBeAreTaken) {
  ASSERT_EQ(rig_.call(wish(kBase)), hipSuccess);
  for (const std::uint64_t base : {kBase, kBase + kPitch, kBase - kPitch, std::uint64_t{0}, array::kNamesEnd,
                                   array::kNamesEnd - kSlice, array::kNamesBegin - 1})
    EXPECT_EQ(rig_.call(wish(base)), hipErrorInvalidValue) << std::hex << base;
  const std::uint64_t other = kBase + (1 << 20);
  for (int wrong = 0; wrong < 7; ++wrong) {
    protocol::CreateArrayRequest request = wish(other);
    if (wrong == 0) request.width = 0;
    if (wrong == 1) request.width = request.height = request.depth = ~std::uint64_t{0};
    if (wrong == 2) request.format = 7;
    if (wrong == 3) request.channels = 3;
    if (wrong == 4) request.flags = 0x80;
    if (wrong == 5) request.levels = 2;
    if (wrong == 6) request.levels = 0;
    EXPECT_EQ(rig_.call(request), hipErrorInvalidValue) << wrong;
  }
  protocol::CreateArrayRequest mipmapped = wish(other);
  mipmapped.mipmapped = 1;
  mipmapped.levels = 6;
  EXPECT_EQ(rig_.call(mipmapped), hipErrorInvalidValue) << "more levels than a single element has";
  mipmapped.levels = 5;
  EXPECT_EQ(rig_.call(mipmapped), hipSuccess);
  EXPECT_EQ(rig_.call(protocol::DestroyArrayRequest{other}), hipSuccess);
  EXPECT_EQ(rig_.call(protocol::DestroyArrayRequest{other}), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(protocol::DestroyArrayRequest{kBase + kSlice}), hipErrorInvalidValue);
  EXPECT_EQ(rig_.stop().code(), Code::kClosed);
}

TEST_F(ArraysOf, CopiesStayInsideTheirArray) {
  ASSERT_EQ(rig_.call(wish(kBase)), hipSuccess);
  const std::uint64_t memory = rig_.lease(1 << 20);
  EXPECT_EQ(copy(kBase, kPitch, kSlice, memory, 64, 8, 4), hipSuccess);
  EXPECT_EQ(copy(kBase + kSlice + kPitch + 4, kPitch, kSlice, memory, 60, 7, 3), hipSuccess);
  EXPECT_EQ(copy(kBase, kPitch, kSlice, memory, 68, 8, 4), hipErrorInvalidValue) << "into the gap";
  EXPECT_EQ(copy(kBase + 4, kPitch, kSlice, memory, 64, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(copy(kBase, kPitch, kSlice, memory, 64, 9, 1), hipErrorInvalidValue);
  EXPECT_EQ(copy(kBase + kPitch, kPitch, kSlice, memory, 64, 8, 4), hipErrorInvalidValue);
  EXPECT_EQ(copy(kBase, kPitch, kSlice, memory, 64, 8, 5), hipErrorInvalidValue);
  EXPECT_EQ(copy(kBase, kPitch / 2, kSlice, memory, 64, 8, 1), hipErrorInvalidValue) << "another pitch";
  EXPECT_EQ(copy(kBase + 2, kPitch, kSlice, memory, 4, 1, 1), hipErrorInvalidValue) << "no whole element";
  EXPECT_EQ(copy(kBase - kPitch, kPitch, kSlice, memory, 64, 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(copy(kBase, 0, 0, memory, 64, std::uint64_t{1} << 60, 1), hipErrorInvalidValue);
  EXPECT_EQ(copy(kBase, kPitch, kSlice, 4096, 64, 8, 4), hipErrorInvalidValue) << "no memory of its";
  // Rows in the place of slices, as the client flattens them; and slices that are no whole rows apart.
  EXPECT_EQ(rig_.call(protocol::CopyBoxOnDeviceRequest{kBase, kSlice, 0, memory, 64, 0, 64, 4, 1, 0}),
            hipSuccess);
  EXPECT_EQ(rig_.call(protocol::CopyBoxOnDeviceRequest{kBase, kPitch, kSlice, memory, 64, 200, 64, 3, 4, 0}),
            hipSuccess);
  // It is no memory for anything but copies.
  protocol::FillRequest fill{};
  fill.target = kBase;
  fill.width = 16;
  EXPECT_EQ(rig_.call(fill), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(protocol::DestroyArrayRequest{kBase}), hipSuccess);
  EXPECT_EQ(copy(kBase, kPitch, kSlice, memory, 64, 8, 4), hipErrorInvalidValue) << "gone";
  EXPECT_EQ(rig_.stop().code(), Code::kClosed);
}

TEST_F(ArraysOf, TexturesReadOnlyWhatIsTheirs) {
  ASSERT_EQ(rig_.call(wish(kBase)), hipSuccess);
  const std::uint64_t memory = rig_.lease(1 << 20);
  protocol::CreateTextureRequest texture{};
  texture.resource = hipResourceTypeArray;
  texture.address = kBase;
  EXPECT_EQ(rig_.call(texture), hipSuccess);
  texture.address = kBase + kSlice;
  EXPECT_EQ(rig_.call(texture), hipErrorInvalidValue) << "not its begin";
  texture.resource = hipResourceTypeMipmappedArray;
  texture.address = kBase;
  EXPECT_EQ(rig_.call(texture), hipErrorInvalidValue) << "it is not mipmapped";
  texture.resource = hipResourceTypeLinear;
  texture.format = HIP_AD_FORMAT_FLOAT;
  texture.channels = 1;
  texture.address = memory;
  texture.bytes = 4096;
  EXPECT_EQ(rig_.call(texture), hipSuccess);
  texture.bytes = std::uint64_t{1} << 40;
  EXPECT_EQ(rig_.call(texture), hipErrorInvalidValue);
  texture.address = kBase;
  texture.bytes = 64;
  EXPECT_EQ(rig_.call(texture), hipErrorInvalidValue) << "an array's name is no memory";
  texture.resource = hipResourceTypePitch2D;
  texture.address = memory;
  texture.width = 16;
  texture.height = std::uint64_t{1} << 50;
  texture.pitch = 256;
  EXPECT_EQ(rig_.call(texture), hipErrorInvalidValue);
  texture.height = 4;
  EXPECT_EQ(rig_.call(texture), hipSuccess);
  texture.filter = 2;
  EXPECT_EQ(rig_.call(texture), hipErrorInvalidValue);
  texture.filter = 0;
  texture.resource = 9;
  EXPECT_EQ(rig_.call(texture), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(protocol::DestroyTextureRequest{memory}), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(protocol::DestroySurfaceRequest{memory}), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(protocol::CreateSurfaceRequest{memory}), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(protocol::CreateSurfaceRequest{kBase}), hipSuccess);
  EXPECT_EQ(rig_.stop().code(), Code::kClosed);  // and releases them all
}

}  // namespace
}  // namespace tf::worker
