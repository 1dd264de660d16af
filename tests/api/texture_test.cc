// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: what kernels read through them, what they say of themselves, and how they end.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/api/texture_fixture.h"

namespace tf::api_test {
namespace {

TEST(TextureReads, PointsAreWhatWasCopied) {
  const auto values = ramp(7 * 5);
  const FilledArray array(kFloat, make_hipExtent(7, 5, 0), values.data());
  const Texture texture(resource_of(array.get()), sampling(hipAddressModeClamp, hipFilterModePoint, false));
  std::vector<Coordinate> at;
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x) at.push_back({static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f});
  EXPECT_EQ(texture.read(Reading::k2D, at), values);
  // Beyond an edge it is the edge; a NaN is as zero.
  EXPECT_EQ(texture.read(Reading::k2D, {{-3, 2}, {99, 2}, {3, -1}, {3, 1e30f}, {NAN, 0}}),
            (std::vector<float>{14, 20, 3, 31, 0}));
}

TEST(TextureReads, LinearFiltersMixNeighbours) {
  const std::vector<float> values{0, 10, 20, 40};
  const FilledArray line(kFloat, make_hipExtent(4, 0, 0), values.data());
  const Texture texture(resource_of(line.get()), sampling(hipAddressModeClamp, hipFilterModeLinear, false));
  EXPECT_EQ(texture.read(Reading::k1D, {{0.5f}, {1.0f}, {1.5f}, {2.25f}, {3.0f}, {0.0f}, {9.0f}}),
            (std::vector<float>{0, 5, 10, 17.5f, 30, 0, 40}));
  const auto plane = ramp(16);
  const FilledArray square(kFloat, make_hipExtent(4, 4, 0), plane.data());
  const Texture flat(resource_of(square.get()), sampling(hipAddressModeClamp, hipFilterModeLinear, true));
  EXPECT_EQ(flat.read(Reading::k2D, {{0.5f, 0.5f}, {0.375f, 0.625f}, {0.4375f, 0.125f}}),
            (std::vector<float>{7.5f, 9, 1.25f}));
}

TEST(TextureReads, LinearFiltersMixInThreeAxes) {
  const auto volume = ramp(64);
  const FilledArray cube(kFloat, make_hipExtent(4, 4, 4), volume.data());
  const Texture deep(resource_of(cube.get()), sampling(hipAddressModeClamp, hipFilterModeLinear, false));
  EXPECT_EQ(deep.read(Reading::k3D, {{2, 2, 2}, {1.5f, 2.5f, 3}, {0.5f, 0.5f, 3.5f}}),
            (std::vector<float>{31.5f, 1 + 8 + 40, 48}));
}

TEST(TextureReads, AddressModesSayWhatLiesOutside) {
  const std::vector<float> values{1, 2, 3, 4};
  const FilledArray line(kFloat, make_hipExtent(4, 0, 0), values.data());
  const std::vector<Coordinate> at{{-0.3f}, {-0.1f}, {0.1f}, {0.9f}, {1.1f}, {1.3f}, {2.6f}};
  const auto read = [&](hipTextureAddressMode mode, bool normalized) {
    const Texture texture(resource_of(line.get()), sampling(mode, hipFilterModePoint, normalized));
    return texture.read(Reading::k1D, at);
  };
  EXPECT_EQ(read(hipAddressModeWrap, true), (std::vector<float>{3, 4, 1, 4, 1, 2, 3}));
  EXPECT_EQ(read(hipAddressModeMirror, true), (std::vector<float>{2, 1, 1, 4, 4, 3, 3}));
  EXPECT_EQ(read(hipAddressModeClamp, true), (std::vector<float>{1, 1, 1, 4, 4, 4, 4}));
  EXPECT_EQ(read(hipAddressModeBorder, true), (std::vector<float>{0, 0, 1, 4, 0, 0, 0}));
  EXPECT_EQ(read(hipAddressModeWrap, false), (std::vector<float>{1, 1, 1, 1, 2, 2, 3})) << "as clamped";
}

TEST(TextureReads, BordersHaveTheirColor) {
  const std::vector<float> values{1, 2, 3, 4};
  const FilledArray line(kFloat, make_hipExtent(4, 0, 0), values.data());
  hipTextureDesc how = sampling(hipAddressModeBorder, hipFilterModePoint, true);
  how.borderColor[0] = 9;
  const Texture texture(resource_of(line.get()), how);
  EXPECT_EQ(texture.read(Reading::k1D, {{-0.1f}, {0.1f}, {1.1f}}), (std::vector<float>{9, 1, 9}));
}

TEST(TextureReads, WrappedNeighboursAreMixed) {
  const std::vector<float> values{0, 0, 0, 8};
  const FilledArray line(kFloat, make_hipExtent(4, 0, 0), values.data());
  const Texture texture(resource_of(line.get()), sampling(hipAddressModeWrap, hipFilterModeLinear, true));
  EXPECT_EQ(texture.read(Reading::k1D, {{0.0f}, {1.0f}, {0.0625f}}), (std::vector<float>{4, 4, 2}));
}

TEST(TextureReads, IntegersAreReadAsFloatsIfAsked) {
  const std::array<unsigned char, 4> bytes{0, 51, 102, 255};
  const std::array<signed char, 4> small{-128, -127, 0, 127};
  const std::array<unsigned short, 4> shorts{0, 13107, 65535, 1};
  const std::vector<Coordinate> at{{0.5f}, {1.5f}, {2.5f}, {3.5f}};
  const auto how = sampling(hipAddressModeClamp, hipFilterModePoint, false, hipReadModeNormalizedFloat);
  const FilledArray of_bytes(kByte, make_hipExtent(4, 0, 0), bytes.data());
  EXPECT_EQ(Texture(resource_of(of_bytes.get()), how).read(Reading::k1D, at),
            (std::vector<float>{0, 0.2f, 0.4f, 1}));
  const FilledArray of_small(kSigned8, make_hipExtent(4, 0, 0), small.data());
  EXPECT_EQ(Texture(resource_of(of_small.get()), how).read(Reading::k1D, at),
            (std::vector<float>{-1, -1, 0, 1}));
  const FilledArray of_shorts(kShort, make_hipExtent(4, 0, 0), shorts.data());
  EXPECT_EQ(Texture(resource_of(of_shorts.get()), how).read(Reading::k1D, at),
            (std::vector<float>{0, 0.2f, 1, 1 / 65535.0f}));
  const auto linear = sampling(hipAddressModeClamp, hipFilterModeLinear, false, hipReadModeNormalizedFloat);
  const float precision = is_nvidia() ? 1e-4f : 1e-6f;  // its hardware has 8 bits more than the elements
  EXPECT_NEAR(Texture(resource_of(of_bytes.get()), linear).read(Reading::k1D, {{1.0f}})[0], 0.1f, precision);
}

TEST(TextureReads, IntegersStayIntegers) {
  std::vector<unsigned char> bytes(4 * 6);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 9);
  const FilledArray array(kByte4, make_hipExtent(3, 2, 0), bytes.data());
  const Texture texture(resource_of(array.get()), sampling(hipAddressModeClamp, hipFilterModePoint, false));
  const std::vector<Coordinate> at{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}};
  DeviceBuffer coordinates(at.size() * sizeof(Coordinate)), out(at.size() * 16);
  HIP_OK(hipMemcpy(coordinates.get(), at.data(), at.size() * sizeof(Coordinate), hipMemcpyHostToDevice));
  launch_read_bytes(texture.get(), coordinates.get<Coordinate>(), out.get<int>(), 6);
  std::vector<int> values(24);
  HIP_OK(hipMemcpy(values.data(), out.get(), 96, hipMemcpyDeviceToHost));
  EXPECT_TRUE(std::equal(values.begin(), values.end(), bytes.begin()));
}

TEST(TextureReads, LayersAreNotMixed) {
  const auto values = ramp(4 * 3);
  const FilledArray lines(kFloat, make_hipExtent(4, 0, 3), values.data(), hipArrayLayered);
  const Texture of_lines(resource_of(lines.get()), sampling(hipAddressModeClamp, hipFilterModeLinear, false));
  EXPECT_EQ(of_lines.read(Reading::k1DLayered, {{1, 0, 0, 0}, {1, 0, 0, 2}, {2.5f, 0, 0, 1}, {2, 0, 0, 9}}),
            (std::vector<float>{0.5f, 8.5f, 6, 9.5f}));
  const auto planes = ramp(2 * 2 * 3);
  const FilledArray flat(kFloat, make_hipExtent(2, 2, 3), planes.data(), hipArrayLayered);
  const Texture of_planes(resource_of(flat.get()), sampling(hipAddressModeClamp, hipFilterModeLinear, false));
  EXPECT_EQ(of_planes.read(Reading::k2DLayered, {{1, 1, 0, 0}, {1, 1, 0, 1}, {0.5f, 1.5f, 0, 2}}),
            (std::vector<float>{1.5f, 5.5f, 10}));
}

TEST(TextureReads, FacesAreNotMixed) {
  // Every element of a face has the number of that face.
  std::vector<float> faces(4 * 4 * 6);
  for (std::size_t i = 0; i < faces.size(); ++i) faces[i] = static_cast<float>(i / 16);
  const FilledArray cube(kFloat, make_hipExtent(4, 4, 6), faces.data(), hipArrayCubemap);
  const Texture of_cube(resource_of(cube.get()), sampling(hipAddressModeClamp, hipFilterModePoint, true));
  EXPECT_EQ(
      of_cube.read(Reading::kCubemap,
                   {{1, 0.2f, 0.3f}, {-2, 1, 1}, {0, 3, 1}, {0.1f, -1, 0}, {0, 0, 5}, {0.5f, 0.5f, -0.6f}}),
      (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(TextureReads, FacesHaveTheirDirections) {
  std::vector<float> faces(2 * 2 * 6);
  for (std::size_t i = 0; i < faces.size(); ++i) faces[i] = static_cast<float>(i);
  const FilledArray cube(kFloat, make_hipExtent(2, 2, 6), faces.data(), hipArrayCubemap);
  const Texture texture(resource_of(cube.get()), sampling(hipAddressModeClamp, hipFilterModePoint, true));
  // On +X the first row is above and the first column towards +Z; on +Z the first column is towards -X.
  EXPECT_EQ(texture.read(Reading::kCubemap,
                         {{1, 0.5f, 0.5f}, {1, -0.5f, -0.5f}, {-0.5f, 0.5f, 1}, {0.5f, 1, 0.5f}}),
            (std::vector<float>{0, 3, 16, 11}));
}

TEST(TextureReads, ChannelsThatAreMissingReadZeroAndOne) {
  const std::vector<float> values{3, 4};
  const FilledArray array(kFloat, make_hipExtent(2, 0, 0), values.data());
  const Texture texture(resource_of(array.get()), sampling(hipAddressModeClamp, hipFilterModePoint, false));
  const float fourth = is_nvidia() ? 0 : 1;  // as CUDA has it
  EXPECT_EQ(texture.read_all(Reading::k1D, {{1.5f}}), (std::vector<float>{4, 0, 0, fourth}));
}

TEST(TextureReads, MemoryIsReadInPlace) {
  const auto values = ramp(1000);
  DeviceBuffer memory(4000);
  HIP_OK(hipMemcpy(memory.get(), values.data(), 4000, hipMemcpyHostToDevice));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {memory.get(), kFloat, 4000};
  const Texture texture(resource, sampling(hipAddressModeClamp, hipFilterModePoint, false));
  EXPECT_EQ(texture.read(Reading::kFetch, {{0}, {999}, {17}, {1000}, {-1}}),
            (std::vector<float>{0, 999, 17, 0, 0}));
  const float changed = 5;
  HIP_OK(hipMemcpy(memory.at(68), &changed, 4, hipMemcpyHostToDevice));
  EXPECT_EQ(texture.read(Reading::kFetch, {{17}})[0], 5);

  void* rows = nullptr;
  std::size_t pitch = 0;
  HIP_OK(hipMallocPitch(&rows, &pitch, 20, 6));
  HIP_OK(hipMemcpy2D(rows, pitch, values.data(), 20, 20, 6, hipMemcpyHostToDevice));
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D = {rows, kFloat, 5, 6, pitch};
  {
    const Texture flat(resource, sampling(hipAddressModeClamp, hipFilterModeLinear, false));
    EXPECT_EQ(flat.read(Reading::k2D, {{0.5f, 0.5f}, {4.5f, 5.5f}, {2, 3}}), (std::vector<float>{0, 29, 14}));
  }
  HIP_OK(hipFree(rows));
}

TEST(TextureReads, LevelsOfDetail) {
  hipMipmappedArray_t mipmapped = nullptr;
  HIP_OK(hipMallocMipmappedArray(&mipmapped, &kFloat, make_hipExtent(8, 8, 0), 4, 0));
  for (unsigned level = 0; level < 4; ++level) {
    hipArray_t array = nullptr;
    HIP_OK(hipGetMipmappedArrayLevel(&array, mipmapped, level));
    const std::size_t edge = 8 >> level;
    const std::vector<float> values(edge * edge, 10.0f * static_cast<float>(level));
    HIP_OK(hipMemcpy2DToArray(array, 0, 0, values.data(), edge * 4, edge * 4, edge, hipMemcpyHostToDevice));
  }
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmapped;
  hipTextureDesc how = sampling(hipAddressModeClamp, hipFilterModeLinear, true);
  how.mipmapFilterMode = hipFilterModeLinear;
  how.maxMipmapLevelClamp = 2.5f;
  const std::vector<Coordinate> at{{0.5f, 0.5f, 0, 0, 0},     {0.5f, 0.5f, 0, 0, 1},
                                   {0.5f, 0.5f, 0, 0, 1.25f}, {0.5f, 0.5f, 0, 0, 2.5f},
                                   {0.5f, 0.5f, 0, 0, 3.0f},  {0.5f, 0.5f, 0, 0, -1}};
  {
    const Texture texture(resource, how);
    EXPECT_EQ(texture.read(Reading::k2DLod, at), (std::vector<float>{0, 10, 12.5f, 25, 25, 0}));
  }
  how.mipmapFilterMode = hipFilterModePoint;
  {
    const Texture texture(resource, how);
    EXPECT_EQ(texture.read(Reading::k2DLod, at), (std::vector<float>{0, 10, 10, 30, 30, 0}));
  }
  how.normalizedCoords = 0;
  hipTextureObject_t wrong = nullptr;
  EXPECT_EQ(hipCreateTextureObject(&wrong, &resource, &how, nullptr), hipErrorInvalidValue);
  HIP_OK(hipFreeMipmappedArray(mipmapped));
}

TEST(TextureReads, GathersFourElements) {
  const auto values = ramp(16);
  const FilledArray array(kFloat, make_hipExtent(4, 4, 0), values.data(), hipArrayTextureGather);
  const Texture texture(resource_of(array.get()), sampling(hipAddressModeClamp, hipFilterModePoint, false));
  DeviceBuffer out(16);
  launch_gather(texture.get(), {2, 2}, out.get<float>());
  std::vector<float> got(4);
  HIP_OK(hipMemcpy(got.data(), out.get(), 16, hipMemcpyDeviceToHost));
  EXPECT_EQ(got, (std::vector<float>{9, 10, 6, 5}));
}

TEST(TextureReads, SurfacesAreReadAndWritten) {
  const auto values = ramp(12 * 5);
  const FilledArray array(kFloat, make_hipExtent(12, 5, 0), values.data(), hipArraySurfaceLoadStore);
  hipSurfaceObject_t surface = nullptr;
  const hipResourceDesc resource = resource_of(array.get());
  HIP_OK(hipCreateSurfaceObject(&surface, &resource));
  launch_double_surface(surface, 12, 5);
  std::vector<float> back(values.size());
  HIP_OK(hipMemcpy2DFromArray(back.data(), 48, array.get(), 0, 0, 48, 5, hipMemcpyDeviceToHost));
  std::vector<float> wanted(values.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = 2 * values[i] + static_cast<float>(100 * (i / 12) + i % 12);
  EXPECT_EQ(back, wanted);
  HIP_OK(hipDestroySurfaceObject(surface));
  EXPECT_EQ(hipDestroySurfaceObject(surface), hipErrorInvalidValue);
}

// As in AMD's runtime: who destroys the array first has not destroyed what the texture reads.
TEST(TextureReads, ATextureKeepsItsArray) {
  const auto values = ramp(64);
  hipTextureObject_t texture = nullptr;
  {
    const FilledArray array(kFloat, make_hipExtent(64, 0, 0), values.data());
    const hipResourceDesc resource = resource_of(array.get());
    const hipTextureDesc how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
    HIP_OK(hipCreateTextureObject(&texture, &resource, &how, nullptr));
  }
  DeviceBuffer at(sizeof(Coordinate)), out(16);
  const Coordinate where{40.5f};
  HIP_OK(hipMemcpy(at.get(), &where, sizeof where, hipMemcpyHostToDevice));
  launch_read_texture(texture, Reading::k1D, false, at.get<Coordinate>(), out.get<float>(), 1);
  HIP_OK(hipDestroyTextureObject(texture));
  float got = 0;
  HIP_OK(hipMemcpy(&got, out.get(), 4, hipMemcpyDeviceToHost));
  EXPECT_EQ(got, 40);
}

TEST(TextureReads, ViewsReadTheSameBytesDifferently) {
  const std::array<unsigned, 4> bits{0x3f800000, 0x40000000, 0x40400000, 0x40800000};
  const FilledArray array(kInt, make_hipExtent(4, 0, 0), bits.data());
  hipResourceViewDesc view{};
  view.format = hipResViewFormatFloat1;
  view.width = 4;
  const Texture texture(resource_of(array.get()), sampling(hipAddressModeClamp, hipFilterModeLinear, false),
                        &view);
  EXPECT_EQ(texture.read(Reading::k1D, {{0.5f}, {2.0f}, {3.5f}}), (std::vector<float>{1, 2.5f, 4}));
  hipTextureObject_t wrong = nullptr;
  const hipResourceDesc resource = resource_of(array.get());
  const hipTextureDesc how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
  view.format = hipResViewFormatFloat2;
  EXPECT_EQ(hipCreateTextureObject(&wrong, &resource, &how, &view), hipErrorInvalidValue);
}

TEST(Texture, DescriptionsComeBack) {
  const auto values = ramp(16);
  const FilledArray array(kFloat4, make_hipExtent(2, 2, 0), values.data());
  hipTextureDesc how = sampling(hipAddressModeMirror, hipFilterModeLinear, true);
  how.borderColor[2] = 7;
  hipResourceViewDesc view{};
  view.format = hipResViewFormatFloat4;
  view.width = view.height = 2;
  const Texture texture(resource_of(array.get()), how, &view);
  hipResourceDesc resource{};
  hipTextureDesc sampled{};
  hipResourceViewDesc viewed{};
  HIP_OK(hipGetTextureObjectResourceDesc(&resource, texture.get()));
  EXPECT_EQ(resource.resType, hipResourceTypeArray);
  EXPECT_EQ(resource.res.array.array, array.get());
  HIP_OK(hipGetTextureObjectTextureDesc(&sampled, texture.get()));
  EXPECT_EQ(sampled.addressMode[1], hipAddressModeMirror);
  EXPECT_EQ(sampled.borderColor[2], 7);
  HIP_OK(hipGetTextureObjectResourceViewDesc(&viewed, texture.get()));
  EXPECT_EQ(viewed.format, hipResViewFormatFloat4);
  HIP_TEXTURE_DESC driver{};
  HIP_OK(hipTexObjectGetTextureDesc(&driver, texture.get()));
  EXPECT_EQ(driver.flags, unsigned{HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES});
  EXPECT_EQ(driver.addressMode[0], HIP_TR_ADDRESS_MODE_MIRROR);
}

TEST(Texture, DriverObjectsAreTheSameObjects) {
  const auto values = ramp(16);
  DeviceBuffer memory(64);
  HIP_OK(hipMemcpy(memory.get(), values.data(), 64, hipMemcpyHostToDevice));
  HIP_RESOURCE_DESC resource{};
  resource.resType = HIP_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = memory.get();
  resource.res.linear.format = HIP_AD_FORMAT_FLOAT;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = 64;
  HIP_TEXTURE_DESC how{};
  how.flags = HIP_TRSF_READ_AS_INTEGER;
  hipTextureObject_t texture = nullptr;
  HIP_OK(hipTexObjectCreate(&texture, &resource, &how, nullptr));
  HIP_RESOURCE_DESC got{};
  HIP_OK(hipTexObjectGetResourceDesc(&got, texture));
  EXPECT_EQ(got.res.linear.devPtr, memory.get());
  EXPECT_EQ(got.res.linear.format, HIP_AD_FORMAT_FLOAT);
  HIP_RESOURCE_VIEW_DESC view{};
  HIP_OK(hipTexObjectGetResourceViewDesc(&view, texture));
  hipResourceDesc plain{};
  HIP_OK(hipGetTextureObjectResourceDesc(&plain, texture));
  EXPECT_EQ(plain.res.linear.desc.f, hipChannelFormatKindFloat);
  HIP_OK(hipTexObjectDestroy(texture));
  EXPECT_EQ(hipTexObjectDestroy(texture), hipErrorInvalidValue);
}

TEST(Texture, WhatCannotBeIsRefused) {
  const auto values = ramp(16);
  const FilledArray array(kFloat, make_hipExtent(16, 0, 0), values.data());
  DeviceBuffer memory(4096);
  hipTextureObject_t texture = nullptr;
  const hipResourceDesc good = resource_of(array.get());
  const hipTextureDesc how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
  EXPECT_EQ(hipCreateTextureObject(nullptr, &good, &how, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipCreateTextureObject(&texture, nullptr, &how, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipCreateTextureObject(&texture, &good, nullptr, nullptr), hipErrorInvalidValue);
  const auto refused = [&](const hipResourceDesc& resource) {
    return hipCreateTextureObject(&texture, &resource, &how, nullptr);
  };
  static hipArray nowhere{};
  EXPECT_EQ(refused(resource_of(nullptr)), hipErrorInvalidValue);
  EXPECT_EQ(refused(resource_of(&nowhere)), hipErrorInvalidValue);
  hipResourceDesc resource{};
  resource.resType = number<hipResourceType>(9);
  EXPECT_EQ(refused(resource), hipErrorInvalidValue);
  resource.resType = hipResourceTypeMipmappedArray;
  EXPECT_EQ(refused(resource), hipErrorInvalidValue);
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {nullptr, kFloat, 4096};
  EXPECT_EQ(refused(resource), hipErrorInvalidValue);
  resource.res.linear = {memory.at(4), kFloat, 64};
  EXPECT_EQ(refused(resource), hipErrorInvalidValue) << "not aligned";
  resource.res.linear = {memory.get(), kFloat, 1 << 30};
  EXPECT_EQ(refused(resource), hipErrorInvalidValue) << "more than there is";
  resource.res.linear = {memory.get(), {}, 4096};
  EXPECT_EQ(refused(resource), hipErrorInvalidValue);
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D = {memory.get(), kFloat, 8, 8, 300};
  EXPECT_EQ(refused(resource), hipErrorInvalidValue) << "a pitch that is not aligned";
  resource.res.pitch2D = {memory.get(), kFloat, 8, 1000, 512};
  EXPECT_EQ(refused(resource), hipErrorInvalidValue) << "more than there is";
  hipResourceViewDesc view{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {memory.get(), kFloat, 4096};
  EXPECT_EQ(hipCreateTextureObject(&texture, &resource, &how, &view), hipErrorInvalidValue);
  for (int wrong = 0; wrong < 5; ++wrong) {
    hipTextureDesc bad = how;
    if (wrong == 0) bad.addressMode[2] = number<hipTextureAddressMode>(7);
    if (wrong == 1) bad.filterMode = number<hipTextureFilterMode>(7);
    if (wrong == 2) bad.readMode = number<hipTextureReadMode>(7);
    if (wrong == 3) bad.maxAnisotropy = 2;
    if (wrong == 4) bad.mipmapLevelBias = 1;
    EXPECT_EQ(hipCreateTextureObject(&texture, &good, &bad, nullptr),
              wrong < 3 ? hipErrorInvalidValue : hipErrorNotSupported);
  }
  EXPECT_EQ(texture, nullptr);
}

TEST(Texture, HandlesThatAreNoneAreRefused) {
  hipResourceDesc resource{};
  hipTextureDesc how{};
  hipResourceViewDesc view{};
  HIP_RESOURCE_DESC driver{};
  HIP_OK(hipDestroyTextureObject(nullptr));
  HIP_OK(hipTexObjectDestroy(nullptr));
  HIP_OK(hipDestroySurfaceObject(nullptr));
  for (const std::uintptr_t value : {std::uintptr_t{0}, std::uintptr_t{0x1230}}) {
    const auto wrong = reinterpret_cast<hipTextureObject_t>(value);
    EXPECT_EQ(hipGetTextureObjectResourceDesc(&resource, wrong), hipErrorInvalidValue);
    EXPECT_EQ(hipGetTextureObjectTextureDesc(&how, wrong), hipErrorInvalidValue);
    EXPECT_EQ(hipGetTextureObjectResourceViewDesc(&view, wrong), hipErrorInvalidValue);
    EXPECT_EQ(hipTexObjectGetResourceDesc(&driver, wrong), hipErrorInvalidValue);
    if (value != 0) {
      EXPECT_EQ(hipDestroyTextureObject(wrong), hipErrorInvalidValue);
    }
  }
  hipSurfaceObject_t surface = nullptr;
  resource.resType = hipResourceTypeLinear;
  EXPECT_EQ(hipCreateSurfaceObject(&surface, &resource), hipErrorInvalidValue);
  EXPECT_EQ(hipCreateSurfaceObject(&surface, nullptr), hipErrorInvalidValue);
  resource = resource_of(nullptr);
  EXPECT_EQ(hipCreateSurfaceObject(&surface, &resource), hipErrorInvalidValue);
  EXPECT_EQ(hipCreateSurfaceObject(nullptr, &resource), hipErrorInvalidValue);
}

TEST(Texture, TheDeviceSaysWhatItCan) {
  int images = 0;
  int width = 0;
  HIP_OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
  EXPECT_EQ(images, 1);
  HIP_OK(hipDeviceGetAttribute(&width, hipDeviceAttributeMaxTexture2DWidth, 0));
  EXPECT_GE(width, 16384);
  hipDeviceProp_t properties{};
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  EXPECT_EQ(properties.maxTexture2D[0], width);
  HIP_OK(hipDeviceGetAttribute(&width, hipDeviceAttributeMaxTexture1DWidth, 0));
  hipArray_t array = nullptr;
  EXPECT_EQ(hipMallocArray(&array, &kByte, static_cast<std::size_t>(width) + 1, 0, 0), hipErrorInvalidValue);
  HIP_OK(hipMallocArray(&array, &kByte, static_cast<std::size_t>(width), 0, 0));
  HIP_OK(hipFreeArray(array));
}

}  // namespace
}  // namespace tf::api_test
