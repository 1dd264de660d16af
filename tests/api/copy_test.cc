// SPDX-License-Identifier: Apache-2.0
// Copies of every form: what arrives, and what is refused.
#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "tests/api/graph_fixture.h"
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

// Outside the enum: a conversion that the compiler must not see through.
volatile int raw_badkind = 17;
const auto kBadKind = static_cast<hipMemcpyKind>(raw_badkind);

class LinearCopy : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LinearCopy, RoundTrip) {
  const std::size_t bytes = GetParam();
  std::vector<unsigned char> source(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    source[i] = static_cast<unsigned char>(i * 7 + i / 256 + i / 65536 * 13);
  DeviceBuffer first(bytes);
  DeviceBuffer second(bytes);
  HIP_OK(hipMemcpy(first.get(), source.data(), bytes, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(second.get(), first.get(), bytes, hipMemcpyDeviceToDevice));
  std::vector<unsigned char> back(bytes);
  HIP_OK(hipMemcpy(back.data(), second.get(), bytes, hipMemcpyDefault));
  EXPECT_TRUE(back == source);
}

TEST_P(LinearCopy, AsyncThroughPinnedMemory) {
  const std::size_t bytes = GetParam();
  PinnedBuffer source(bytes);
  PinnedBuffer target(bytes);
  auto* const from = source.as<unsigned char>();
  for (std::size_t i = 0; i < bytes; ++i)
    from[i] = static_cast<unsigned char>(i * 3 + i / 512 + i / 65536 * 13);
  DeviceBuffer device(bytes);
  TestStream stream;
  HIP_OK(hipMemcpyAsync(device.get(), from, bytes, hipMemcpyHostToDevice, stream));
  HIP_OK(hipMemcpyAsync(target.as<void>(), device.get(), bytes, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_TRUE(std::equal(from, from + bytes, target.as<unsigned char>()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, LinearCopy,
                         ::testing::Values(1, 3, 4095, 4096, 65535, 65536, 65537, 1 << 20, (5 << 20) + 13,
                                           (9 << 20) + 4093));

// Sources that are taken along with their copies, on a stream that stands still; copies on other streams,
// from this thread and others, are none the worse for it.
TEST(Copy, PageableCopiesWhileAnotherStreamStandsStill) {
  constexpr std::size_t kPiece = 40000;
  constexpr std::size_t kPieces = 6;
  constexpr std::size_t kOther = (3 << 20) + 5;
  DeviceBuffer held(kPiece * kPieces);
  DeviceBuffer other(kOther);
  TestStream still(hipStreamNonBlocking);
  TestStream moving(hipStreamNonBlocking);
  Gate gate;
  gate.close(still);
  std::vector<unsigned char> piece(kPiece);
  for (std::size_t i = 0; i < kPieces; ++i) {
    std::fill(piece.begin(), piece.end(), static_cast<unsigned char>(i + 1));
    HIP_OK(hipMemcpyAsync(held.at(i * kPiece), piece.data(), kPiece, hipMemcpyHostToDevice, still));
  }
  std::vector<unsigned char> source(kOther);
  for (std::size_t i = 0; i < kOther; ++i) source[i] = static_cast<unsigned char>(i * 11 + i / 1000);
  std::vector<unsigned char> back(kOther);
  HIP_OK(hipMemcpyWithStream(other.get(), source.data(), kOther, hipMemcpyHostToDevice, moving));
  HIP_OK(hipMemcpyWithStream(back.data(), other.get(), kOther, hipMemcpyDeviceToHost, moving));
  EXPECT_TRUE(back == source);
  EXPECT_EQ(hipStreamQuery(still), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(still));
  std::vector<unsigned char> all(kPiece * kPieces);
  HIP_OK(hipMemcpy(all.data(), held.get(), all.size(), hipMemcpyDeviceToHost));
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i / kPiece + 1) << i;
}

TEST(Copy, PageableCopiesOfManyThreads) {
  constexpr std::size_t kBytes = 1'500'001;
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([id] {
      DeviceBuffer device(kBytes);
      TestStream stream(hipStreamNonBlocking);
      std::vector<unsigned char> source(kBytes);
      std::vector<unsigned char> back(kBytes);
      for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < kBytes; i += 97)
          source[i] = static_cast<unsigned char>(i + static_cast<std::size_t>(id * 50 + round));
        ASSERT_EQ(hipMemcpyWithStream(device.get(), source.data(), kBytes, hipMemcpyHostToDevice, stream),
                  hipSuccess);
        ASSERT_EQ(hipMemcpyWithStream(back.data(), device.get(), kBytes, hipMemcpyDeviceToHost, stream),
                  hipSuccess);
        ASSERT_TRUE(back == source) << id << ' ' << round;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Copy, PageableSourceMayChangeAfterTheCall) {
  constexpr std::size_t kCount = 8000;
  DeviceBuffer device(kCount * 4);
  TestStream stream;
  Gate gate;
  gate.close(stream);
  std::vector<std::uint32_t> source = counting(kCount, 100);
  HIP_OK(hipMemcpyAsync(device.get(), source.data(), kCount * 4, hipMemcpyHostToDevice, stream));
  std::fill(source.begin(), source.end(), 0u);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  std::vector<std::uint32_t> back(kCount);
  HIP_OK(hipMemcpy(back.data(), device.get(), kCount * 4, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, counting(kCount, 100));
}

TEST(Copy, Offsets) {
  DeviceBuffer device(1000);
  HIP_OK(hipMemset(device.get(), 0, 1000));
  const char text[] = "in the middle";
  HIP_OK(hipMemcpy(device.at(501), text, sizeof text, hipMemcpyHostToDevice));
  char back[sizeof text] = {};
  HIP_OK(hipMemcpy(back, device.at(501), sizeof text, hipMemcpyDeviceToHost));
  EXPECT_STREQ(back, text);
}

TEST(Copy, BadArgumentsAreRefused) {
  DeviceBuffer device(1000);
  char host[2000] = {};
  EXPECT_EQ(hipMemcpy(nullptr, host, 10, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device.get(), nullptr, 10, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device.get(), host, 10, kBadKind), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipMemcpy(device.get(), host, 1001, hipMemcpyHostToDevice), hipErrorInvalidValue) << "too long";
  EXPECT_EQ(hipMemcpy(host, device.at(500), 501, hipMemcpyDeviceToHost), hipErrorInvalidValue) << "too long";
  HIP_OK(hipMemcpy(device.get(), host, 0, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(device.get(), host, 1000, hipMemcpyHostToDevice));
}

// As in AMD's runtime, the memory decides. For rows, an end that is called the device's must be known to HIP.
TEST(Copy, ADirectionThatDoesNotFit) {
  constexpr std::size_t kBytes = 256;
  DeviceBuffer first(kBytes);
  DeviceBuffer second(kBytes);
  PinnedBuffer pinned(kBytes);
  std::vector<std::byte> pageable(kBytes);
  std::vector<std::byte> other(kBytes);
  struct End {
    void* memory;
    bool known;
  };
  const End ends[] = {{first.get(), true},
                      {second.get(), true},
                      {pinned.as<void>(), true},
                      {pageable.data(), false},
                      {other.data(), false}};
  for (const hipMemcpyKind kind : {hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost,
                                   hipMemcpyDeviceToDevice, hipMemcpyDefault})
    for (const End& to : ends)
      for (const End& from : ends) {
        SCOPED_TRACE(testing::Message() << kind << ", from " << &from - ends << " to " << &to - ends);
        if (to.memory == from.memory) continue;
        HIP_OK(hipMemcpy(to.memory, from.memory, kBytes, kind));
        const bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
        const bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
        const bool fits = (to.known || !to_device) && (from.known || !from_device);
        EXPECT_EQ(hipMemcpy2D(to.memory, 32, from.memory, 32, 16, 8, kind),
                  fits ? hipSuccess : hipErrorInvalidValue);
        TestGraph graph;
        hipGraphNode_t node = nullptr;
        EXPECT_EQ(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to.memory, from.memory, kBytes, kind),
                  fits ? hipSuccess : hipErrorInvalidValue);
      }
}

// However the allocations lie.
TEST(Copy, BeyondAnAllocation) {
  constexpr std::size_t kBytes = 4096;
  const std::vector<std::byte> host(2 * kBytes);
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  for (int i = 0; i < 8; ++i) buffers.push_back(std::make_unique<DeviceBuffer>(kBytes));
  for (const auto& buffer : buffers)
    EXPECT_EQ(hipMemcpy(buffer->get(), host.data(), kBytes + 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
}

TEST(Copy, BeyondPinnedMemory) {
  constexpr std::size_t kBytes = 4096;
  const PinnedBuffer pinned(kBytes);
  const DeviceBuffer device(2 * kBytes);
  char* const host = pinned.as<char>();
  EXPECT_EQ(hipMemcpy(device.get(), host, kBytes + 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host, device.get(), kBytes + 1, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  EXPECT_EQ(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device.get(), host + 1, kBytes,
                                    hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  HIP_OK(hipGraphDestroy(graph));
}

TEST(Copy, DriverForms) {
  const auto values = counting(1000, 1);
  std::vector<std::uint32_t> source = values;
  std::vector<std::uint32_t> back(1000);
  DeviceBuffer first(4000);
  DeviceBuffer second(4000);
  TestStream stream;
  HIP_OK(hipMemcpyHtoD(first.get(), source.data(), 4000));
  HIP_OK(hipMemcpyDtoD(second.get(), first.get(), 4000));
  HIP_OK(hipMemcpyDtoH(back.data(), second.get(), 4000));
  EXPECT_EQ(back, values);
  std::fill(back.begin(), back.end(), 0u);
  HIP_OK(hipMemset(second.get(), 0, 4000));
  HIP_OK(hipMemcpyHtoDAsync(first.get(), source.data(), 4000, stream));
  HIP_OK(hipMemcpyDtoDAsync(second.get(), first.get(), 4000, stream));
  HIP_OK(hipMemcpyDtoHAsync(back.data(), second.get(), 4000, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(back, values);
  std::fill(back.begin(), back.end(), 0u);
  HIP_OK(hipMemcpyWithStream(back.data(), second.get(), 4000, hipMemcpyDeviceToHost, stream));
  EXPECT_EQ(back, values);
}

TEST(Copy, Rows) {
  constexpr std::size_t kWidth = 60;
  constexpr std::size_t kHeight = 40;
  constexpr std::size_t kHostPitch = 100;
  void* device = nullptr;
  std::size_t pitch = 0;
  HIP_OK(hipMallocPitch(&device, &pitch, kWidth, kHeight));
  std::vector<unsigned char> source(kHostPitch * kHeight);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i % 251);
  HIP_OK(hipMemcpy2D(device, pitch, source.data(), kHostPitch, kWidth, kHeight, hipMemcpyHostToDevice));
  std::vector<unsigned char> back(kWidth * kHeight, 0xee);
  TestStream stream;
  HIP_OK(
      hipMemcpy2DAsync(back.data(), kWidth, device, pitch, kWidth, kHeight, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipStreamSynchronize(stream));
  for (std::size_t row = 0; row < kHeight; ++row)
    for (std::size_t x = 0; x < kWidth; ++x) ASSERT_EQ(back[row * kWidth + x], source[row * kHostPitch + x]);
  EXPECT_EQ(hipMemcpy2D(device, pitch, source.data(), kWidth - 1, kWidth, kHeight, hipMemcpyHostToDevice),
            hipErrorInvalidPitchValue);
  EXPECT_EQ(hipMemcpy2D(nullptr, pitch, source.data(), kWidth, kWidth, kHeight, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  HIP_OK(hipMemcpy2D(device, pitch, source.data(), kWidth, 0, kHeight, hipMemcpyHostToDevice));
  HIP_OK(hipFree(device));
}

TEST(Copy, RowsByParameters) {
  std::vector<unsigned char> source(32 * 8);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i);
  DeviceBuffer device(32 * 8);
  HIP_OK(hipMemset(device.get(), 0xff, 32 * 8));
  hip_Memcpy2D parameters = {};
  parameters.srcMemoryType = hipMemoryTypeHost;
  parameters.srcHost = source.data();
  parameters.srcPitch = 32;
  parameters.srcXInBytes = 4;
  parameters.srcY = 1;
  parameters.dstMemoryType = hipMemoryTypeDevice;
  parameters.dstDevice = device.get();
  parameters.dstPitch = 32;
  parameters.WidthInBytes = 10;
  parameters.Height = 3;
  HIP_OK(hipMemcpyParam2D(&parameters));
  std::vector<unsigned char> back(32 * 8);
  HIP_OK(hipMemcpy(back.data(), device.get(), back.size(), hipMemcpyDeviceToHost));
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t x = 0; x < 10; ++x) ASSERT_EQ(back[row * 32 + x], source[(row + 1) * 32 + x + 4]);
  EXPECT_EQ(back[10], 0xff) << "written past the row";
  EXPECT_EQ(back[3 * 32], 0xff) << "written past the last row";
  EXPECT_EQ(hipMemcpyParam2D(nullptr), hipErrorInvalidValue);
}

TEST(Copy, Boxes) {
  const hipExtent extent = make_hipExtent(20, 5, 4);
  hipPitchedPtr device = {};
  HIP_OK(hipMalloc3D(&device, extent));
  std::vector<unsigned char> source(24 * 6 * 4);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i % 253);
  hipMemcpy3DParms up = {};
  up.srcPtr = make_hipPitchedPtr(source.data(), 24, 24, 6);
  up.dstPtr = device;
  up.extent = extent;
  up.kind = hipMemcpyHostToDevice;
  HIP_OK(hipMemcpy3D(&up));
  std::vector<unsigned char> back(20 * 5 * 4);
  hipMemcpy3DParms down = {};
  down.srcPtr = device;
  down.dstPtr = make_hipPitchedPtr(back.data(), 20, 20, 5);
  down.extent = extent;
  down.kind = hipMemcpyDeviceToHost;
  HIP_OK(hipMemcpy3DAsync(&down, nullptr));
  HIP_OK(hipStreamSynchronize(nullptr));
  for (std::size_t z = 0; z < 4; ++z)
    for (std::size_t y = 0; y < 5; ++y)
      for (std::size_t x = 0; x < 20; ++x)
        ASSERT_EQ(back[(z * 5 + y) * 20 + x], source[(z * 6 + y) * 24 + x]);
  EXPECT_EQ(hipMemcpy3D(nullptr), hipErrorInvalidValue);
  HIP_OK(hipFree(device.ptr));
}

hipMemcpy3DParms box_copy(const hipPitchedPtr& target, const hipPitchedPtr& source, hipExtent extent,
                          hipMemcpyKind kind) {
  hipMemcpy3DParms copy = {};
  copy.srcPtr = source;
  copy.dstPtr = target;
  copy.extent = extent;
  copy.kind = kind;
  return copy;
}

// Rows longer than any buffer on the way, many rows, slices that lie apart, one row a slice.
TEST(Copy, LargeBoxes) {
  TestStream stream;
  for (const hipExtent extent : {make_hipExtent(700'001, 3, 2), make_hipExtent(999, 3000, 1),
                                 make_hipExtent(100, 50, 300), make_hipExtent(64, 1, 9000)}) {
    const std::size_t pitch = extent.width + 9;
    const std::size_t rows = extent.height + 1;
    hipPitchedPtr device = {};
    HIP_OK(hipMalloc3D(&device, extent));
    std::vector<unsigned char> source(pitch * rows * extent.depth);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i % 251 + 1);
    std::vector<unsigned char> back(source.size(), 0);
    const auto up = box_copy(device, make_hipPitchedPtr(source.data(), pitch, pitch, rows), extent,
                             hipMemcpyHostToDevice);
    const auto down =
        box_copy(make_hipPitchedPtr(back.data(), pitch, pitch, rows), device, extent, hipMemcpyDeviceToHost);
    for (const bool wait : {true, false}) {
      std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
      HIP_OK(hipMemset(device.ptr, 0, device.pitch * extent.height * extent.depth));
      HIP_OK(hipDeviceSynchronize());
      HIP_OK(wait ? hipMemcpy3D(&up) : hipMemcpy3DAsync(&up, stream));
      HIP_OK(wait ? hipMemcpy3D(&down) : hipMemcpy3DAsync(&down, stream));
      HIP_OK(hipStreamSynchronize(stream));
      for (std::size_t i = 0; i < back.size(); ++i) {
        const bool inside = i % pitch < extent.width && i / pitch % rows < extent.height;
        ASSERT_EQ(back[i], inside ? source[i] : 0) << i << " of " << extent.width << 'x' << extent.height;
      }
    }
    HIP_OK(hipFree(device.ptr));
  }
}

// 16 bytes x 2 rows x 2 slices in slices of 3 rows of 20 bytes: 4 bytes and 1 row may come before.
TEST(Copy, ABoxThatReachesIntoTheNextRowOrSliceIsRefused) {
  DeviceBuffer source(4096);
  DeviceBuffer target(4096);
  const auto copy = [&](std::size_t x, std::size_t y) {
    hipMemcpy3DParms box = {};
    box.srcPtr = make_hipPitchedPtr(source.get(), 20, 20, 3);
    box.dstPtr = make_hipPitchedPtr(target.get(), 20, 20, 3);
    box.dstPos = make_hipPos(x, y, 0);
    box.extent = make_hipExtent(16, 2, 2);
    box.kind = hipMemcpyDeviceToDevice;
    return hipMemcpy3D(&box);
  };
  const auto copy_by_driver = [&](unsigned x, unsigned y) {
    HIP_MEMCPY3D box = {};
    box.srcMemoryType = box.dstMemoryType = hipMemoryTypeDevice;
    box.srcDevice = source.get();
    box.dstDevice = target.get();
    box.srcPitch = box.dstPitch = 20;
    box.srcHeight = box.dstHeight = 3;
    box.srcXInBytes = x;
    box.srcY = y;
    box.WidthInBytes = 16;
    box.Height = box.Depth = 2;
    return hipDrvMemcpy3D(&box);
  };
  HIP_OK(copy(4, 1));
  HIP_OK(copy_by_driver(4, 1));
  EXPECT_EQ(copy(5, 0), hipErrorInvalidValue);
  EXPECT_EQ(copy(0, 2), hipErrorInvalidValue);
  EXPECT_EQ(copy_by_driver(5, 0), hipErrorInvalidValue);
  EXPECT_EQ(copy_by_driver(0, 2), hipErrorInvalidValue);
  hip_Memcpy2D rows = {};
  rows.srcMemoryType = rows.dstMemoryType = hipMemoryTypeDevice;
  rows.srcDevice = source.get();
  rows.dstDevice = target.get();
  rows.srcPitch = rows.dstPitch = 20;
  rows.dstXInBytes = 5;
  rows.WidthInBytes = 16;
  rows.Height = 2;
  EXPECT_EQ(hipMemcpyParam2D(&rows), hipErrorInvalidValue);
  rows.dstXInBytes = 0;
  rows.srcPitch = 15;
  EXPECT_EQ(hipMemcpyParam2D(&rows), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
