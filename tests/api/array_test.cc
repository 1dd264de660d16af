// SPDX-License-Identifier: Apache-2.0
// Arrays: their descriptions, their lifetime, and copies between them and all other memory.
#include <algorithm>
#include <string>

#include "tests/api/array_fixture.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // hipMemcpyToArray and its like

// What HIP's headers of 5.2 do not declare.
extern "C" {
hipError_t hipArrayGetInfo(hipChannelFormatDesc* elements, hipExtent* extent, unsigned int* flags,
                           hipArray* array);
hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* description, hipArray* array);
hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* description, hipArray* array);
}

namespace tf::api_test {
namespace {

TEST(Array, TheStructSaysWhatItIs) {
  hipArray_t array = nullptr;
  HIP_OK(hipMallocArray(&array, &kFloat4, 37, 11, hipArrayDefault));
  EXPECT_NE(array->data, nullptr);
  EXPECT_EQ(array->width, 37u);
  EXPECT_EQ(array->height, 11u);
  EXPECT_EQ(array->depth, 0u);
  EXPECT_EQ(array->Format, HIP_AD_FORMAT_FLOAT);
  EXPECT_EQ(array->NumChannels, 4u);
  EXPECT_EQ(array->desc.w, 32);
  EXPECT_EQ(array->desc.f, hipChannelFormatKindFloat);
  hipChannelFormatDesc elements{};
  hipExtent extent{};
  unsigned flags = 77;
  HIP_OK(hipArrayGetInfo(&elements, &extent, &flags, array));
  EXPECT_EQ(elements.x, 32);
  EXPECT_EQ(extent.width, 37u);
  EXPECT_EQ(extent.depth, 0u);
  EXPECT_EQ(flags, unsigned{hipArrayDefault});
  HIP_OK(hipGetChannelDesc(&elements, array));
  EXPECT_EQ(elements.z, 32);
  HIP_ARRAY_DESCRIPTOR flat{};
  HIP_OK(hipArrayGetDescriptor(&flat, array));
  EXPECT_EQ(flat.Height, 11u);
  EXPECT_EQ(flat.NumChannels, 4u);
  HIP_OK(hipFreeArray(array));
}

TEST(Array, DriverDescriptionsComeBack) {
  hipArray_t array = nullptr;
  const HIP_ARRAY3D_DESCRIPTOR wish{16, 8, 5, HIP_AD_FORMAT_SIGNED_INT16, 2, hipArrayLayered};
  HIP_OK(hipArray3DCreate(&array, &wish));
  HIP_ARRAY3D_DESCRIPTOR got{};
  HIP_OK(hipArray3DGetDescriptor(&got, array));
  EXPECT_EQ(got.Width, 16u);
  EXPECT_EQ(got.Depth, 5u);
  EXPECT_EQ(got.Format, HIP_AD_FORMAT_SIGNED_INT16);
  EXPECT_EQ(got.NumChannels, 2u);
  EXPECT_EQ(got.Flags, unsigned{hipArrayLayered});
  EXPECT_EQ(array->desc.y, 16);
  EXPECT_EQ(array->desc.f, hipChannelFormatKindSigned);
  HIP_OK(hipArrayDestroy(array));
  const HIP_ARRAY_DESCRIPTOR flat{16, 0, HIP_AD_FORMAT_HALF, 1};
  HIP_OK(hipArrayCreate(&array, &flat));
  EXPECT_EQ(array->desc.f, hipChannelFormatKindFloat);
  HIP_OK(hipArrayDestroy(array));
}

TEST(Array, ShapesThatCannotBeAreRefused) {
  hipArray_t array = nullptr;
  const hipExtent some = make_hipExtent(8, 8, 0);
  EXPECT_EQ(hipMallocArray(nullptr, &kByte, 8, 8, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, nullptr, 8, 8, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, &kByte, 0, 8, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, &kByte, 8, 8, 0x100), hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(nullptr, &kByte, some, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &kByte, make_hipExtent(8, 0, 8), 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &kByte, some, hipArrayLayered), hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &kByte, make_hipExtent(8, 4, 6), hipArrayCubemap), hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &kByte, make_hipExtent(8, 8, 2), hipArrayTextureGather),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &kByte, make_hipExtent(SIZE_MAX, SIZE_MAX, SIZE_MAX), 0),
            hipErrorInvalidValue);
  for (const hipChannelFormatDesc& wrong :
       {hipChannelFormatDesc{8, 8, 8, 0, hipChannelFormatKindUnsigned},
        hipChannelFormatDesc{8, 16, 0, 0, hipChannelFormatKindUnsigned},
        hipChannelFormatDesc{8, 0, 0, 0, hipChannelFormatKindFloat},
        hipChannelFormatDesc{64, 0, 0, 0, hipChannelFormatKindSigned},
        hipChannelFormatDesc{32, 0, 0, 0, hipChannelFormatKindNone},
        hipChannelFormatDesc{0, 0, 0, 0, hipChannelFormatKindSigned},
        hipChannelFormatDesc{32, 0, 0, 0, number<hipChannelFormatKind>(9)}})
    EXPECT_EQ(hipMallocArray(&array, &wrong, 8, 8, 0), hipErrorInvalidValue);
  HIP_ARRAY3D_DESCRIPTOR wish{8, 8, 0, number<hipArray_Format>(0x77), 1, 0};
  EXPECT_EQ(hipArray3DCreate(&array, &wish), hipErrorInvalidValue);
  wish = {8, 8, 0, HIP_AD_FORMAT_FLOAT, 3, 0};
  EXPECT_EQ(hipArray3DCreate(&array, &wish), hipErrorInvalidValue);
  EXPECT_EQ(hipArray3DCreate(&array, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipArrayCreate(&array, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(array, nullptr);
}

// Also where the device has not the memory either.
TEST(Array, EdgesBeyondTheDeviceAreRefused) {
  hipDeviceProp_t of{};
  HIP_OK(hipGetDeviceProperties(&of, 0));
  const auto edge = [](int limit) { return static_cast<std::size_t>(limit); };
  const std::size_t row = edge(of.maxTexture1D);
  const std::size_t rows[] = {edge(of.maxTexture2D[0]), edge(of.maxTexture2D[1])};
  const std::size_t boxes[] = {edge(of.maxTexture3D[0]), edge(of.maxTexture3D[1]), edge(of.maxTexture3D[2])};
  for (const hipExtent& extent :
       {make_hipExtent(row + 1, 0, 0), make_hipExtent(rows[0] + 1, rows[1], 0),
        make_hipExtent(rows[0] + 1, rows[1] + 1, 0), make_hipExtent(boxes[0] + 1, boxes[1], boxes[2]),
        make_hipExtent(boxes[0], boxes[1] + 1, boxes[2]), make_hipExtent(boxes[0], boxes[1], boxes[2] + 1)}) {
    hipArray_t array = nullptr;
    EXPECT_EQ(hipMalloc3DArray(&array, &kByte, extent, 0), hipErrorInvalidValue)
        << extent.width << " " << extent.height << " " << extent.depth;
  }
}

TEST(Array, HandlesThatAreNoneAreRefused) {
  HIP_ARRAY_DESCRIPTOR flat{};
  HIP_ARRAY3D_DESCRIPTOR deep{};
  hipChannelFormatDesc elements{};
  TestArray array(kByte, make_hipExtent(8, 8, 0));
  EXPECT_EQ(hipFreeArray(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipArrayDestroy(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipFreeArray(stray()), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipArrayDestroy(stray()), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipArrayGetDescriptor(nullptr, array.get()), hipErrorInvalidValue);
  EXPECT_EQ(hipArray3DGetDescriptor(nullptr, array.get()), hipErrorInvalidValue);
  EXPECT_EQ(hipGetChannelDesc(nullptr, array.get()), hipErrorInvalidValue);
  for (const hipArray_t wrong : {hipArray_t{nullptr}, stray()}) {
    EXPECT_EQ(hipArrayGetInfo(&elements, nullptr, nullptr, wrong), hipErrorInvalidHandle);
    EXPECT_EQ(hipArrayGetDescriptor(&flat, wrong), hipErrorInvalidHandle);
    EXPECT_EQ(hipArray3DGetDescriptor(&deep, wrong), hipErrorInvalidHandle);
    EXPECT_EQ(hipGetChannelDesc(&elements, wrong), hipErrorInvalidHandle);
  }
  hipArray_t gone = nullptr;
  HIP_OK(hipMallocArray(&gone, &kByte, 8, 8, 0));
  HIP_OK(hipFreeArray(gone));
  EXPECT_EQ(hipFreeArray(gone), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipArrayGetInfo(&elements, nullptr, nullptr, gone), hipErrorInvalidHandle);
}

// What was copied to an array of this shape comes back.
void expect_elements_stay(const hipExtent& extent, unsigned flags) {
  SCOPED_TRACE(std::to_string(extent.width) + "x" + std::to_string(extent.height) + "x" +
               std::to_string(extent.depth));
  const hipExtent whole = make_hipExtent(extent.width, std::max<std::size_t>(extent.height, 1),
                                         std::max<std::size_t>(extent.depth, 1));
  const std::size_t count = whole.width * whole.height * whole.depth;
  TestArray array(kFloat, extent, flags);
  auto values = counting(count, 5);
  auto up = between(array.get(), true, values.data(), whole, 4);
  HIP_OK(hipMemcpy3D(&up));
  std::vector<std::uint32_t> back(count);
  auto down = between(array.get(), false, back.data(), whole, 4);
  HIP_OK(hipMemcpy3D(&down));
  EXPECT_EQ(back, values);
}

TEST(Array, EveryShapeKeepsItsElements) {
  expect_elements_stay(make_hipExtent(1000, 0, 0), 0);
  expect_elements_stay(make_hipExtent(33, 17, 0), 0);
  expect_elements_stay(make_hipExtent(33, 17, 5), 0);
  expect_elements_stay(make_hipExtent(33, 17, 3), hipArrayLayered);
  expect_elements_stay(make_hipExtent(300, 200, 20), 0);
}

// AMD's runtime has the layers along y, where the worker puts them.
TEST(Array, LayersOfLinesKeepTheirElements) {
  expect_elements_stay(make_hipExtent(100, 0, 7), hipArrayLayered);
  TestArray lines(kFloat, make_hipExtent(40, 0, 5), hipArrayLayered);
  auto values = counting(40 * 5, 9);
  auto up = between(lines.get(), true, values.data(), make_hipExtent(40, 1, 5), 4);
  HIP_OK(hipMemcpy3D(&up));
  std::vector<std::uint32_t> part(10 * 2);
  auto down = between(lines.get(), false, part.data(), make_hipExtent(10, 1, 2), 4);
  down.srcPos = make_hipPos(7, 0, 3);
  HIP_OK(hipMemcpy3D(&down));
  for (std::size_t i = 0; i < part.size(); ++i)
    EXPECT_EQ(part[i], values[(3 + i / 10) * 40 + 7 + i % 10]) << i;
}

TEST(Array, CubemapsKeepTheirElements) {
  if (is_nvidia()) GTEST_SKIP() << "not tried: whether NVIDIA's driver copies several faces as one box";
  expect_elements_stay(make_hipExtent(16, 16, 6), hipArrayCubemap);
  expect_elements_stay(make_hipExtent(16, 16, 12), hipArrayCubemap | hipArrayLayered);
}

TEST(Array, RowsGoToTheirPosition) {
  constexpr std::size_t kWidth = 24;
  constexpr std::size_t kHeight = 10;
  TestArray array(kFloat, make_hipExtent(kWidth, kHeight, 0));
  std::vector<std::uint32_t> zeros(kWidth * kHeight);
  HIP_OK(hipMemcpy2DToArray(array.get(), 0, 0, zeros.data(), kWidth * 4, kWidth * 4, kHeight,
                            hipMemcpyHostToDevice));
  const auto values = counting(6 * 3, 1);
  HIP_OK(hipMemcpy2DToArray(array.get(), 4 * 4, 5, values.data(), 6 * 4, 5 * 4, 3, hipMemcpyHostToDevice));
  std::vector<std::uint32_t> back(kWidth * kHeight, 99);
  HIP_OK(hipMemcpy2DFromArray(back.data(), kWidth * 4, array.get(), 0, 0, kWidth * 4, kHeight,
                              hipMemcpyDeviceToHost));
  for (std::size_t y = 0; y < kHeight; ++y)
    for (std::size_t x = 0; x < kWidth; ++x) {
      const bool copied = x >= 4 && x < 9 && y >= 5 && y < 8;
      EXPECT_EQ(back[y * kWidth + x], copied ? values[(y - 5) * 6 + x - 4] : 0u) << x << ", " << y;
    }
  std::vector<std::uint32_t> part(4 * 2);
  HIP_OK(hipMemcpy2DFromArray(part.data(), 4 * 4, array.get(), 5 * 4, 6, 4 * 4, 2, hipMemcpyDefault));
  EXPECT_EQ(part[0], values[6 + 1]);
  EXPECT_EQ(part[7], values[2 * 6 + 4]);
}

// Bytes that follow each other in memory are rows of the array, whole or not.
TEST(Array, LinearBytesFillRows) {
  constexpr std::size_t kWidth = 10;
  TestArray array(kFloat, make_hipExtent(kWidth, 8, 0));
  const auto values = counting(80, 100);
  HIP_OK(hipMemcpyToArray(array.get(), 0, 0, values.data(), 320, hipMemcpyHostToDevice));
  std::vector<std::uint32_t> back(80);
  HIP_OK(hipMemcpyFromArray(back.data(), array.get(), 0, 0, 320, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, values);
  const auto more = counting(33, 1000);
  HIP_OK(hipMemcpyToArray(array.get(), 12, 1, more.data(), 33 * 4, hipMemcpyHostToDevice));
  std::vector<std::uint32_t> wanted = values;
  std::copy(more.begin(), more.end(), wanted.begin() + kWidth + 3);
  HIP_OK(hipMemcpyFromArray(back.data(), array.get(), 0, 0, 320, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, wanted);
  std::vector<std::uint32_t> some(21);
  HIP_OK(hipMemcpyFromArray(some.data(), array.get(), 24, 2, 84, hipMemcpyDeviceToHost));
  EXPECT_TRUE(std::equal(some.begin(), some.end(), wanted.begin() + 2 * kWidth + 6));
  EXPECT_EQ(hipMemcpyToArray(array.get(), 0, 7, values.data(), 44, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
}

TEST(Array, LinesOfTheFirstRow) {
  TestArray array(kFloat, make_hipExtent(64, 0, 0));
  const auto values = counting(64, 7);
  HIP_OK(hipMemcpyHtoA(array.get(), 0, values.data(), 256));
  HIP_OK(hipMemcpyHtoA(array.get(), 40, values.data(), 16));
  std::vector<std::uint32_t> back(20);
  HIP_OK(hipMemcpyAtoH(back.data(), array.get(), 32, 80));
  EXPECT_EQ(back[1], values[9]);
  EXPECT_EQ(back[2], values[0]);
  EXPECT_EQ(back[5], values[3]);
  EXPECT_EQ(back[6], values[14]);
  EXPECT_EQ(hipMemcpyHtoA(array.get(), 250, values.data(), 16), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyAtoH(back.data(), array.get(), 252, 8), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyHtoA(nullptr, 0, values.data(), 16), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyHtoA(stray(), 0, values.data(), 16), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyHtoA(array.get(), 0, nullptr, 16), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyAtoH(nullptr, array.get(), 0, 16), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyAtoH(back.data(), nullptr, 0, 16), hipErrorInvalidValue);
}

// Between arrays, and between arrays and device memory, at positions in both.
TEST(Array, BoxesGoBetweenArraysAndDeviceMemory) {
  TestArray from(kFloat, make_hipExtent(20, 12, 6));
  TestArray to(kFloat, make_hipExtent(15, 30, 9));
  const auto values = counting(20 * 12 * 6, 0);
  DeviceBuffer device(values.size() * 4);
  HIP_OK(hipMemcpy(device.get(), values.data(), values.size() * 4, hipMemcpyHostToDevice));
  hipMemcpy3DParms up = between(from.get(), true, device.get(), make_hipExtent(20, 12, 6), 4);
  up.kind = hipMemcpyDeviceToDevice;
  HIP_OK(hipMemcpy3D(&up));
  up.kind = hipMemcpyHostToHost;  // 0: as programs leave it that do not set it
  HIP_OK(hipMemcpy3D(&up));
  hipMemcpy3DParms across{};
  across.srcArray = from.get();
  across.dstArray = to.get();
  across.srcPos = make_hipPos(3, 2, 1);
  across.dstPos = make_hipPos(4, 20, 5);
  across.extent = make_hipExtent(9, 7, 4);
  across.kind = hipMemcpyDeviceToDevice;
  HIP_OK(hipMemcpy3D(&across));
  std::vector<std::uint32_t> back(9 * 7 * 4);
  hipMemcpy3DParms down = between(to.get(), false, back.data(), across.extent, 4);
  down.srcPos = across.dstPos;
  HIP_OK(hipMemcpy3D(&down));
  for (std::size_t z = 0; z < 4; ++z)
    for (std::size_t y = 0; y < 7; ++y)
      for (std::size_t x = 0; x < 9; ++x)
        ASSERT_EQ(back[(z * 7 + y) * 9 + x], values[((z + 1) * 12 + y + 2) * 20 + x + 3]);
  across.extent = make_hipExtent(9, 7, 5);
  EXPECT_EQ(hipMemcpy3D(&across), hipErrorInvalidValue) << "beyond the last slice";
  TestArray bytes(kByte, make_hipExtent(64, 64, 64));
  across.extent = make_hipExtent(2, 2, 2);
  across.dstArray = bytes.get();
  EXPECT_EQ(hipMemcpy3D(&across), hipErrorInvalidValue) << "elements of different sizes";
}

TEST(Array, DriverCopiesNameArraysByType) {
  TestArray array(kFloat, make_hipExtent(16, 16, 0));
  const auto values = counting(8 * 4, 3);
  hip_Memcpy2D up{};
  up.srcMemoryType = hipMemoryTypeHost;
  up.srcHost = values.data();
  up.srcPitch = 32;
  up.dstMemoryType = hipMemoryTypeArray;
  up.dstArray = array.get();
  up.dstXInBytes = 16;
  up.dstY = 9;
  up.WidthInBytes = 32;
  up.Height = 4;
  HIP_OK(hipMemcpyParam2D(&up));
  HIP_MEMCPY3D down{};
  std::vector<std::uint32_t> back(8 * 4);
  down.srcMemoryType = hipMemoryTypeArray;
  down.srcArray = array.get();
  down.srcXInBytes = 16;
  down.srcY = 9;
  down.dstMemoryType = hipMemoryTypeHost;
  down.dstHost = back.data();
  down.WidthInBytes = 32;
  down.Height = 4;
  down.Depth = 1;
  HIP_OK(hipDrvMemcpy3D(&down));
  EXPECT_EQ(back, values);
  down.srcArray = stray();
  EXPECT_EQ(hipDrvMemcpy3D(&down), hipErrorInvalidValue);
  down.srcArray = nullptr;
  EXPECT_EQ(hipDrvMemcpy3D(&down), hipErrorInvalidValue);
  up.dstY = 13;
  EXPECT_EQ(hipMemcpyParam2D(&up), hipErrorInvalidValue);
  up.dstY = 0;
  up.dstXInBytes = 2;
  EXPECT_EQ(hipMemcpyParam2D(&up), hipErrorInvalidValue) << "no whole elements";
}

TEST(Array, CopiesThatCannotBeAreRefused) {
  TestArray array(kFloat, make_hipExtent(16, 16, 0));
  std::vector<std::uint32_t> memory(256);
  const auto up = [&](hipArray_t to, std::size_t x, std::size_t y, std::size_t pitch, std::size_t width,
                      std::size_t height, hipMemcpyKind kind) {
    return hipMemcpy2DToArray(to, x, y, memory.data(), pitch, width, height, kind);
  };
  EXPECT_EQ(up(nullptr, 0, 0, 64, 64, 1, hipMemcpyHostToDevice), hipErrorInvalidHandle);
  EXPECT_EQ(up(stray(), 0, 0, 64, 64, 1, hipMemcpyHostToDevice), hipErrorInvalidHandle);
  EXPECT_EQ(up(array.get(), 0, 0, 63, 64, 1, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
  EXPECT_EQ(up(array.get(), 0, 0, 0, 64, 1, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
  EXPECT_EQ(up(array.get(), 4, 0, 64, 64, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(up(array.get(), 0, 16, 64, 64, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(up(array.get(), 0, 0, 64, 64, 1, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(up(array.get(), 0, 0, 64, 64, 1, hipMemcpyHostToHost), hipErrorInvalidValue);
  EXPECT_EQ(up(array.get(), 0, 0, 64, 64, 1, number<hipMemcpyKind>(77)), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(up(array.get(), 0, 0, 64, 0, 1, hipMemcpyHostToDevice), hipSuccess) << "nothing to copy";
  EXPECT_EQ(hipMemcpy2DToArray(array.get(), 0, 0, nullptr, 64, 64, 1, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy2DFromArray(nullptr, 64, array.get(), 0, 0, 64, 1, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy2DFromArray(memory.data(), 64, array.get(), 0, 0, 64, 17, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyToArray(nullptr, 0, 0, memory.data(), 64, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyFromArray(memory.data(), stray(), 0, 0, 64, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  hipMemcpy3DParms p = between(array.get(), true, memory.data(), make_hipExtent(16, 16, 1), 4);
  p.dstPtr = p.srcPtr;
  EXPECT_EQ(hipMemcpy3D(&p), hipErrorInvalidValue) << "two targets";
  p = between(stray(), true, memory.data(), make_hipExtent(16, 16, 1), 4);
  EXPECT_EQ(hipMemcpy3D(&p), hipErrorInvalidValue);
  p = between(array.get(), true, nullptr, make_hipExtent(16, 16, 1), 4);
  EXPECT_EQ(hipMemcpy3D(&p), hipErrorInvalidValue);
}

// As nodes of a graph and in captures; the node's parameters name the array.
TEST(Array, GraphsCopyToAndFromArrays) {
  TestArray array(kFloat, make_hipExtent(32, 8, 3));
  const hipExtent whole = make_hipExtent(32, 8, 3);
  auto values = counting(32 * 8 * 3, 11);
  std::vector<std::uint32_t> back(values.size());
  DeviceBuffer device(values.size() * 4);
  hipGraph_t graph = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  hipGraphNode_t nodes[3] = {};
  hipMemcpy3DParms up = between(array.get(), true, values.data(), whole, 4);
  hipMemcpy3DParms aside = between(array.get(), false, device.get(), make_hipExtent(30, 8, 3), 4);
  aside.srcPos = make_hipPos(2, 0, 0);
  aside.kind = hipMemcpyDeviceToDevice;
  hipMemcpy3DParms down = between(array.get(), false, back.data(), whole, 4);
  HIP_OK(hipGraphAddMemcpyNode(&nodes[0], graph, nullptr, 0, &up));
  HIP_OK(hipGraphAddMemcpyNode(&nodes[1], graph, &nodes[0], 1, &aside));
  HIP_OK(hipGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &down));
  hipMemcpy3DParms told{};
  HIP_OK(hipGraphMemcpyNodeGetParams(nodes[1], &told));
  EXPECT_EQ(told.srcArray, array.get());
  EXPECT_EQ(told.srcPos.x, 2u);
  EXPECT_EQ(told.extent.width, 30u);
  EXPECT_EQ(told.dstPtr.ptr, device.get());
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  TestStream stream;
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(back, values);
  std::vector<std::uint32_t> part(30 * 8 * 3);
  HIP_OK(hipMemcpy(part.data(), device.get(), part.size() * 4, hipMemcpyDeviceToHost));
  for (std::size_t row = 0; row < 24; ++row)
    EXPECT_TRUE(
        std::equal(part.begin() + row * 30, part.begin() + (row + 1) * 30, values.begin() + row * 32 + 2));
  up.dstArray = stray();
  EXPECT_EQ(hipGraphMemcpyNodeSetParams(nodes[0], &up), hipErrorInvalidValue);
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

TEST(Array, CapturesTakeCopies) {
  TestArray array(kFloat, make_hipExtent(32, 8, 0));
  DeviceBuffer from(32 * 8 * 4);
  DeviceBuffer to(32 * 8 * 4);
  const auto values = counting(32 * 8, 21);
  HIP_OK(hipMemcpy(from.get(), values.data(), 1024, hipMemcpyHostToDevice));
  TestStream stream;
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(
      hipMemcpy2DToArrayAsync(array.get(), 0, 0, from.get(), 128, 128, 8, hipMemcpyDeviceToDevice, stream));
  HIP_OK(
      hipMemcpy2DFromArrayAsync(to.get(), 128, array.get(), 0, 0, 128, 8, hipMemcpyDeviceToDevice, stream));
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  std::vector<std::uint32_t> back(32 * 8);
  HIP_OK(hipMemcpy(back.data(), to.get(), 1024, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, values);
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

// An array that is freed is free when the call returns; work that was in front of that still finds it.
TEST(Array, WorkBeforeAFreeStillFindsIt) {
  hipArray_t array = nullptr;
  HIP_OK(hipMallocArray(&array, &kFloat, 64, 64, 0));
  PinnedBuffer back(64 * 64 * 4);
  const auto values = counting(64 * 64, 1);
  TestStream stream;
  HIP_OK(hipMemcpy2DToArrayAsync(array, 0, 0, values.data(), 256, 256, 64, hipMemcpyHostToDevice, stream));
  HIP_OK(
      hipMemcpy2DFromArrayAsync(back.as<void>(), 256, array, 0, 0, 256, 64, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipFreeArray(array));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_TRUE(std::equal(values.begin(), values.end(), back.as<std::uint32_t>()));
}

TEST(Array, MemoryIsBooked) {
  std::size_t before = 0;
  std::size_t with = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  // NVIDIA's driver takes memory for itself now and then, and reserves in pieces of its own.
  const std::size_t kept = is_nvidia() ? 2 << 20 : 0;
  {
    TestArray array(kFloat, make_hipExtent(1024, 4096, 0));
    HIP_OK(hipMemGetInfo(&with, &total));
  }
  HIP_OK(hipMemGetInfo(&after, &total));
  EXPECT_LE(with + 1024 * 4096 * 4, before);
  EXPECT_GE(after + kept, before);
  constexpr std::size_t kLines = 16384 * 64 * 16;
  {
    TestArray array(kFloat4, make_hipExtent(16384, 0, 64), hipArrayLayered);
    HIP_OK(hipMemGetInfo(&with, &total));
  }
  HIP_OK(hipMemGetInfo(&after, &total));
  EXPECT_LE(with + kLines, before);
  if (!is_nvidia()) {
    EXPECT_LT(before - with, 2 * kLines) << "memory that there is not";
  }
  EXPECT_GE(after + kept, before);
}

}  // namespace
}  // namespace tf::api_test
