// SPDX-License-Identifier: Apache-2.0
// Clients that name arrays, positions and textures which are not theirs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "hipcore/array/place.h"
#include "session_rig.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kBase = array::kNamesBegin + (1 << 20);
constexpr std::uint64_t kOther = kBase + (1 << 24);
constexpr std::uint64_t kThird = kOther + (1 << 24);
constexpr std::uint64_t kPitch = 256;  // of 16 floats, with a gap
constexpr std::uint64_t kSlice = 9 * kPitch;

// 16 x 8 x 4 floats.
protocol::CreateArrayRequest wish(std::uint64_t base) {
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

// Two lines of 16384 elements of four floats: 512 KiB.
protocol::CreateArrayRequest lines(std::uint64_t base) {
  protocol::CreateArrayRequest request = wish(base);
  request.width = 16384;
  request.height = 0;
  request.depth = 2;
  request.channels = 4;
  request.flags = hipArrayLayered | hipArraySurfaceLoadStore;
  return request;
}

std::uint64_t exec_handle(std::uint32_t index) {
  return protocol::Handle(protocol::HandleKind::kGraphExec, 1, index).raw();
}

protocol::CreateTextureRequest texture_of(std::uint64_t array) {
  protocol::CreateTextureRequest request{};
  request.resource = hipResourceTypeArray;
  request.address = array;
  return request;
}

// Before any runtime is loaded: it has two devices.
const bool two_devices = ::setenv("HIP_CPU_DEVICES", "2", 1) == 0;

class ArraysOf : public ::testing::Test {
 protected:
  void SetUp() override {
    stream_ = rig_.add_stream();
    rig_.start();
  }

  // From `memory`, on the device.
  hipError_t copy(std::uint64_t target, std::uint64_t pitch, std::uint64_t slice, std::uint64_t memory,
                  std::uint64_t width, std::uint64_t height, std::uint64_t depth) {
    return rig_.call(protocol::CopyBoxOnDeviceRequest{target, pitch, slice, memory, width, width * height,
                                                      width, height, depth, 0});
  }
  // A graph of one copy of a row, from the array to `memory`.
  void build(std::uint64_t exec, std::uint64_t array, std::uint64_t memory) {
    protocol::BuildGraphRequest begin{};
    begin.exec = exec;
    rig_.post(begin);
    protocol::BuildCopyNodeRequest node{};
    node.exec = exec;
    node.source = array;
    node.source_pitch = kPitch;
    node.target = memory;
    node.target_pitch = node.width = 64;
    node.height = node.depth = 1;
    rig_.post(node);
  }
  hipError_t instantiate(std::uint64_t exec) {
    protocol::InstantiateGraphRequest request{};
    request.exec = exec;
    return rig_.call(request);
  }
  hipError_t update(std::uint64_t exec, std::uint64_t built) {
    protocol::UpdateGraphRequest request{};
    request.exec = exec;
    request.built = built;
    return rig_.call(request);
  }
  // hipSuccess: the graph ran.
  hipError_t launch(std::uint64_t exec) {
    const std::size_t before = rig_.faults().size();
    protocol::LaunchGraphRequest request{};
    request.exec = exec;
    request.stream = stream_;
    rig_.post(request);
    EXPECT_EQ(rig_.synchronize(stream_), hipSuccess);
    const auto faults = rig_.faults();
    return faults.size() == before ? hipSuccess : static_cast<hipError_t>(faults.back().error);
  }

  SessionRig rig_{TF_CPU_RUNTIME};
  std::uint64_t stream_ = 0;
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

TEST_F(ArraysOf, CopiesAndNodesOfNamesStayInside) {
  ASSERT_EQ(rig_.call(wish(kBase)), hipSuccess);
  const std::uint64_t memory = rig_.lease(1 << 20);
  std::vector<std::byte> row(64, std::byte{7});
  const auto write = [&](std::uint64_t target, std::size_t bytes) {
    return rig_.call(protocol::CopyToDeviceInlineRequest{target, 0}, std::span(row).first(bytes));
  };
  EXPECT_EQ(write(kBase + kSlice, 64), hipSuccess);
  EXPECT_EQ(write(kBase + kPitch - 4, 8), hipErrorInvalidValue) << "in the gap";
  EXPECT_EQ(write(kBase + 2, 4), hipErrorInvalidValue) << "no whole element";
  EXPECT_EQ(write(kBase + 4 * kSlice - 4, 8), hipErrorInvalidValue) << "beyond the end";
  EXPECT_EQ(write(kBase - 4, 8), hipErrorInvalidValue);
  EXPECT_EQ(write(kOther, 64), hipErrorInvalidValue) << "no array's";
  const auto read = [&](std::uint64_t source, std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
                        std::uint64_t tag) {
    return rig_.call(protocol::CopyBoxFromDeviceRequest{source, pitch, kSlice, width, height, 1, 0, tag});
  };
  std::uint64_t tag = 1;
  EXPECT_EQ(read(kBase, kPitch, 64, 9, tag++), hipErrorInvalidValue) << "a row too many";
  EXPECT_EQ(read(kBase, kPitch, 68, 1, tag++), hipErrorInvalidValue);
  EXPECT_EQ(read(kBase, kPitch / 2, 64, 2, tag++), hipErrorInvalidValue);
  EXPECT_EQ(read(kBase + 4 * kSlice, kPitch, 64, 1, tag++), hipErrorInvalidValue);
  EXPECT_EQ(read(kOther, kPitch, 64, 1, tag++), hipErrorInvalidValue);
  EXPECT_EQ(read(kBase, kPitch, 64, ~std::uint64_t{0}, tag++), hipErrorInvalidValue);
  std::uint32_t next = 0;
  const auto node = [&](std::uint64_t array) {
    const std::uint64_t exec = exec_handle(next++);
    build(exec, array, memory);
    return instantiate(exec);
  };
  EXPECT_EQ(node(kBase), hipSuccess);
  EXPECT_EQ(node(kBase + 4), hipErrorInvalidValue) << "into the gap";
  EXPECT_EQ(node(kBase + 4 * kSlice), hipErrorInvalidValue);
  EXPECT_EQ(node(kBase - kPitch), hipErrorInvalidValue);
  EXPECT_EQ(node(kOther), hipErrorInvalidValue);
  ASSERT_EQ(rig_.call(protocol::DestroyArrayRequest{kBase}), hipSuccess);
  EXPECT_EQ(write(kBase, 64), hipErrorInvalidValue);
  EXPECT_EQ(read(kBase, kPitch, 64, 1, tag++), hipErrorInvalidValue);
  EXPECT_EQ(node(kBase), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(texture_of(kBase)), hipErrorInvalidValue) << "its array is gone";
  EXPECT_EQ(rig_.call(protocol::CreateSurfaceRequest{kBase}), hipErrorInvalidValue);
}

TEST_F(ArraysOf, ViewsStayInside) {
  ASSERT_EQ(rig_.call(lines(kBase)), hipSuccess);  // of two layers
  protocol::CreateTextureRequest request = texture_of(kBase);
  request.has_view = 1;
  request.view_format = hipResViewFormatFloat4;
  request.view_width = 16384;
  request.view_layers[1] = 1;
  EXPECT_EQ(rig_.call(request), hipSuccess);
  for (int wrong = 0; wrong < 8; ++wrong) {
    protocol::CreateTextureRequest bad = request;
    if (wrong == 0) bad.view_layers[1] = 2;
    if (wrong == 1) bad.view_layers[0] = 2;
    if (wrong == 2) bad.view_layers[0] = bad.view_layers[1] = 0xffffffff;
    if (wrong == 3) bad.view_levels[1] = 1;
    if (wrong == 4) bad.view_levels[0] = bad.view_levels[1] = 0xffffffff;
    if (wrong == 5) bad.has_view = 2;
    if (wrong == 6) bad.view_format = hipResViewFormatFloat2;
    if (wrong == 7) bad.view_format = 0x7fffffff;
    EXPECT_EQ(rig_.call(bad), wrong < 7 ? hipErrorInvalidValue : hipErrorNotSupported) << wrong;
  }
  request.resource = hipResourceTypeLinear;
  request.address = rig_.lease(1 << 20);
  request.bytes = 4096;
  request.format = HIP_AD_FORMAT_FLOAT;
  request.channels = 1;
  EXPECT_EQ(rig_.call(request), hipErrorInvalidValue) << "a view of memory";
}

TEST_F(ArraysOf, AGraphEndsWithTheArrayThatItNames) {
  ASSERT_EQ(rig_.call(wish(kBase)), hipSuccess);
  ASSERT_EQ(rig_.call(wish(kOther)), hipSuccess);
  const std::uint64_t memory = rig_.lease(1 << 20);
  for (std::uint32_t index : {0u, 1u, 2u}) build(exec_handle(index), kBase, memory);
  build(exec_handle(3), kOther, memory);
  for (std::uint32_t index : {0u, 1u, 3u}) {
    ASSERT_EQ(instantiate(exec_handle(index)), hipSuccess);
    ASSERT_EQ(launch(exec_handle(index)), hipSuccess);
  }
  build(exec_handle(4), kOther, memory);
  ASSERT_EQ(update(exec_handle(1), exec_handle(4)), hipSuccess);  // now it names the other
  ASSERT_EQ(rig_.call(protocol::DestroyArrayRequest{kBase}), hipSuccess);
  ASSERT_EQ(rig_.call(wish(kBase)), hipSuccess);  // another array of that name
  EXPECT_EQ(launch(exec_handle(0)), hipErrorInvalidValue);
  EXPECT_EQ(instantiate(exec_handle(2)), hipErrorInvalidValue) << "it was being built";
  EXPECT_EQ(launch(exec_handle(1)), hipSuccess);
  EXPECT_EQ(launch(exec_handle(3)), hipSuccess);
  build(exec_handle(5), kBase, memory);
  EXPECT_EQ(update(exec_handle(0), exec_handle(5)), hipSuccess);
  EXPECT_EQ(launch(exec_handle(0)), hipSuccess);
  ASSERT_EQ(rig_.call(protocol::DestroyArrayRequest{kBase}), hipSuccess);
  protocol::DestroyGraphRequest destroy{};
  destroy.exec = exec_handle(0);
  EXPECT_EQ(rig_.call(destroy), hipSuccess);
  EXPECT_EQ(rig_.call(destroy), hipErrorInvalidHandle);
  ASSERT_EQ(rig_.call(protocol::DestroyArrayRequest{kOther}), hipSuccess);
  EXPECT_EQ(rig_.stop().code(), Code::kClosed);  // and releases what is left of the others
}

TEST_F(ArraysOf, MemoryHasOneTwoOrFourChannels) {
  const std::uint64_t memory = rig_.lease(1 << 20);
  protocol::CreateTextureRequest line{};
  line.resource = hipResourceTypeLinear;
  line.format = HIP_AD_FORMAT_FLOAT;
  line.address = memory;
  line.bytes = 4096;
  protocol::CreateTextureRequest plane = line;
  plane.resource = hipResourceTypePitch2D;
  plane.width = 4;
  plane.height = 4;
  plane.pitch = 256;
  for (const std::uint32_t channels : {0u, 1u, 2u, 3u, 4u, 5u, 0x80000001u}) {
    line.channels = plane.channels = channels;
    const bool known = channels == 1 || channels == 2 || channels == 4;
    EXPECT_EQ(rig_.call(line), known ? hipSuccess : hipErrorInvalidValue) << channels;
    EXPECT_EQ(rig_.call(plane), known ? hipSuccess : hipErrorInvalidValue) << channels;
  }
}

// A session whose device has 1 MiB.
void make_small(OptionalFunctions&, protocol::WorkerSnapshot& snapshot) {
  snapshot.devices[0].total_memory = 1 << 20;
}

class SmallDevice : public ::testing::Test {
 protected:
  void SetUp() override { rig_.start(); }

  SessionRig rig_{TF_CPU_RUNTIME, make_loopback_pair(), make_small};
};

TEST_F(SmallDevice, ArraysCountAsTheMemoryThatTheyTake) {
  EXPECT_EQ(rig_.call(lines(kBase)), hipSuccess);
  EXPECT_EQ(rig_.call(lines(kOther)), hipSuccess);
  EXPECT_EQ(rig_.call(wish(kThird)), hipErrorOutOfMemory);
  EXPECT_EQ(rig_.call(protocol::DestroyArrayRequest{kBase}), hipSuccess);
  EXPECT_EQ(rig_.call(wish(kThird)), hipSuccess);
}

TEST_F(SmallDevice, MemoryCountsUntilNothingReadsIt) {
  EXPECT_EQ(rig_.call(lines(kBase)), hipSuccess);
  EXPECT_EQ(rig_.call(lines(kOther)), hipSuccess);
  ASSERT_EQ(rig_.call(texture_of(kBase)), hipSuccess);
  const std::uint64_t texture = rig_.reply_body<protocol::CreateTextureReply>().texture;
  ASSERT_EQ(rig_.call(protocol::CreateSurfaceRequest{kBase}), hipSuccess);
  const std::uint64_t surface = rig_.reply_body<protocol::CreateSurfaceReply>().surface;
  EXPECT_EQ(rig_.call(protocol::DestroyArrayRequest{kBase}), hipSuccess);
  EXPECT_EQ(rig_.call(lines(kBase)), hipErrorOutOfMemory);
  EXPECT_EQ(rig_.call(protocol::DestroyTextureRequest{texture}), hipSuccess);
  EXPECT_EQ(rig_.call(lines(kBase)), hipErrorOutOfMemory);
  EXPECT_EQ(rig_.call(protocol::DestroySurfaceRequest{surface}), hipSuccess);
  EXPECT_EQ(rig_.call(lines(kBase)), hipSuccess);
}

// The devices that were current when textures and surfaces were destroyed.
struct Destroyed {
  decltype(&::hipGetDevice) get_device = nullptr;
  decltype(&::hipDestroyTextureObject) texture = nullptr;
  decltype(&::hipDestroySurfaceObject) surface = nullptr;
  std::vector<int> devices;

  static Destroyed& all() {
    static Destroyed all;
    return all;
  }
  static void note() {
    int device = -1;
    EXPECT_EQ(all().get_device(&device), hipSuccess);
    all().devices.push_back(device);
  }
  static hipError_t destroy_texture(hipTextureObject_t object) {
    note();
    return all().texture(object);
  }
  static hipError_t destroy_surface(hipSurfaceObject_t object) {
    note();
    return all().surface(object);
  }
};

TEST(Textures, EndOnTheirDevice) {
  SessionRig rig(TF_CPU_RUNTIME, make_loopback_pair(),
                 [](OptionalFunctions& optional, protocol::WorkerSnapshot&) {
                   Destroyed::all().surface = optional.surfaces.destroy;
                   optional.surfaces.destroy = &Destroyed::destroy_surface;
                 });
  Destroyed::all().get_device = rig.hip().hipGetDevice;
  Destroyed::all().texture = rig.hip().hipDestroyTextureObject;
  rig.hip().hipDestroyTextureObject = &Destroyed::destroy_texture;
  rig.start();
  ASSERT_TRUE(two_devices);
  ASSERT_EQ(rig.snapshot().devices.size(), 2u);
  EXPECT_EQ(rig.call_on(1, lines(kBase)), hipSuccess);
  EXPECT_EQ(rig.call_on(1, texture_of(kBase)), hipSuccess);
  EXPECT_EQ(rig.call_on(1, texture_of(kBase)), hipSuccess);
  const std::uint64_t texture = rig.reply_body<protocol::CreateTextureReply>().texture;
  EXPECT_EQ(rig.call_on(1, protocol::CreateSurfaceRequest{kBase}), hipSuccess);
  EXPECT_EQ(rig.call_on(1, protocol::CreateSurfaceRequest{kBase}), hipSuccess);
  const std::uint64_t surface = rig.reply_body<protocol::CreateSurfaceReply>().surface;
  EXPECT_EQ(rig.call(protocol::DestroyTextureRequest{texture}), hipSuccess);
  EXPECT_EQ(rig.call(wish(kOther)), hipSuccess);  // device 0 is current again
  EXPECT_EQ(rig.call(protocol::DestroySurfaceRequest{surface}), hipSuccess);
  rig.end_session();
  EXPECT_EQ(Destroyed::all().devices, (std::vector<int>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace tf::worker
