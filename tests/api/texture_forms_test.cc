// SPDX-License-Identifier: Apache-2.0
// Cubemaps, gradients, formats and views, and what lies outside of memory.
#include <array>
#include <climits>
#include <cmath>

#include "tests/api/texture_fixture.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // texture references

namespace tf::api_test {
namespace {

// Every element has the number of its face.
std::vector<float> numbered_faces(std::size_t edge, std::size_t faces) {
  std::vector<float> values(edge * edge * faces);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / (edge * edge));
  return values;
}

const std::vector<Coordinate> kTowardsFaces{{1, 0.2f, 0.3f}, {-2, 1, 1}, {0, 3, 1},
                                            {0.1f, -1, 0},   {0, 0, 5},  {0.5f, 0.5f, -0.6f}};

TEST(TextureReads, AViewOfACubemapHasAllFaces) {
  const auto faces = numbered_faces(4, 6);
  const FilledArray cube(kFloat, make_hipExtent(4, 4, 6), faces.data(), hipArrayCubemap);
  hipResourceViewDesc view{};
  view.format = hipResViewFormatFloat1;
  view.width = view.height = 4;
  view.depth = 6;
  const Texture texture(resource_of(cube.get()), sampling(hipAddressModeClamp, hipFilterModePoint, true),
                        &view);
  EXPECT_EQ(texture.read(Reading::kCubemap, kTowardsFaces), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(TextureReads, LayersOfCubemaps) {
  const auto faces = numbered_faces(4, 12);
  const FilledArray cubes(kFloat, make_hipExtent(4, 4, 12), faces.data(), hipArrayCubemap | hipArrayLayered);
  const Texture texture(resource_of(cubes.get()), sampling(hipAddressModeClamp, hipFilterModePoint, true));
  for (const int layer : {0, 1, 2, 1 << 29, 1 << 30, INT_MAX, -1, INT_MIN}) {
    std::vector<Coordinate> at = kTowardsFaces;
    for (Coordinate& each : at) each.layer = layer;
    const float first = layer > 0 ? 6 : 0;  // a layer that there is not is the one next to it
    EXPECT_EQ(texture.read(Reading::kCubemapLayered, at),
              (std::vector<float>{first, first + 1, first + 2, first + 3, first + 4, first + 5}))
        << layer;
  }
}

TEST(TextureReads, LoadsBeyondTheLastLayerAreZero) {
  std::vector<float> faces = numbered_faces(4, 12);
  for (float& each : faces) each += 1;
  const FilledArray cubes(kFloat, make_hipExtent(4, 4, 12), faces.data(),
                          hipArrayCubemap | hipArrayLayered | hipArraySurfaceLoadStore);
  hipSurfaceObject_t surface = nullptr;
  const hipResourceDesc resource = resource_of(cubes.get());
  HIP_OK(hipCreateSurfaceObject(&surface, &resource));
  struct Case {
    int layer, face;
    float value;
  };
  // The last but one: times six it is 2 in 32 bits.
  for (const auto& [layer, face, value] :
       {Case{0, 0, 1}, Case{1, 5, 12}, Case{2, 0, 0}, Case{0, 6, 0}, Case{-1, 5, 0}, Case{1, -1, 0},
        Case{715827883, 0, 0}, Case{INT_MIN, 0, 0}}) {
    DeviceBuffer out(4);
    launch_load_face(surface, layer, face, out.get<float>());
    float got = -1;
    HIP_OK(hipMemcpy(&got, out.get(), 4, hipMemcpyDeviceToHost));
    EXPECT_EQ(got, value) << layer << ", " << face;
  }
  HIP_OK(hipDestroySurfaceObject(surface));
}

// What lies in front of the memory counts outwards too: its last column is still there.
TEST(TextureReads, ReferencesToRowsThatAreNotAligned) {
  std::vector<unsigned char> bytes(4 * 512);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i % 512 % 256);
  DeviceBuffer memory(bytes.size());
  HIP_OK(hipMemcpy(memory.get(), bytes.data(), bytes.size(), hipMemcpyHostToDevice));
  std::size_t offset = 0;
  HIP_OK(hipBindTexture2D(&offset, plane_texture(), memory.at(20), &kByte, 31, 4, 512));
  EXPECT_EQ(offset, 20u);
  DeviceBuffer of_line(1024);
  HIP_OK(hipMemset(of_line.get(), 0, 1024));
  HIP_OK(hipBindTexture(nullptr, line_texture(), of_line.get(), &kFloat, 1024));
  const std::vector<Coordinate> at{{20, 0}, {50, 3}, {51, 3}};
  DeviceBuffer where(sizeof(Coordinate) * 3), line(12), plane(12);
  HIP_OK(hipMemcpy(where.get(), at.data(), sizeof(Coordinate) * 3, hipMemcpyHostToDevice));
  launch_read_references(where.get<Coordinate>(), line.get<float>(), plane.get<float>(), 3);
  std::vector<float> got(3);
  HIP_OK(hipMemcpy(got.data(), plane.get(), 12, hipMemcpyDeviceToHost));
  EXPECT_EQ(got, (std::vector<float>{20 / 255.0f, 50 / 255.0f, 50 / 255.0f}));
  HIP_OK(hipUnbindTexture(line_texture()));
  HIP_OK(hipUnbindTexture(plane_texture()));
}

// Steps of one, two and four elements are levels 0, 1 and 2.
TEST(TextureReads, GradientsSayTheLevel) {
  struct Case {
    hipExtent extent;
    Reading how;
  };
  for (const auto& [extent, reading] :
       {Case{make_hipExtent(8, 0, 0), Reading::k1DGrad}, Case{make_hipExtent(8, 8, 0), Reading::k2DGrad},
        Case{make_hipExtent(8, 8, 8), Reading::k3DGrad}}) {
    const FilledLevels levels(extent, 4);
    hipTextureDesc how = sampling(hipAddressModeClamp, hipFilterModeLinear, true);
    how.mipmapFilterMode = hipFilterModeLinear;
    how.maxMipmapLevelClamp = 3;
    const Texture texture(levels.resource(), how);
    std::vector<Coordinate> at;
    for (const float step : {0.0f, 0.125f, 0.25f, 0.35355339f, 0.5f, 1.0f, 9.0f})
      at.push_back({0.5f, 0.5f, 0.5f, 0, step});
    const std::vector<float> got = texture.read(reading, at);
    const std::vector<float> wanted{0, 0, 10, 15, 20, 30, 30};
    for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-3f) << at[i].level;
  }
}

TEST(TextureReads, HalvesAreFloats) {
  constexpr hipChannelFormatDesc kHalf{16, 0, 0, 0, hipChannelFormatKindFloat};
  const std::array<unsigned short, 6> bits{0x3c00, 0xc000, 0x3800, 0x0001, 0x7bff, 0x7c00};
  const FilledArray array(kHalf, make_hipExtent(6, 0, 0), bits.data());
  const Texture points(resource_of(array.get()), sampling(hipAddressModeClamp, hipFilterModePoint, false));
  EXPECT_EQ(points.read(Reading::k1D, {{0}, {1}, {2}, {3}, {4}, {5}}),
            (std::vector<float>{1, -2, 0.5f, 0x1p-24f, 65504, INFINITY}));
  const Texture mixed(resource_of(array.get()), sampling(hipAddressModeClamp, hipFilterModeLinear, false));
  EXPECT_EQ(mixed.read(Reading::k1D, {{1}}), (std::vector<float>{-0.5f}));
}

// The values are those of the sRGB standard's transfer function.
TEST(TextureReads, ColorsOfSrgbAreLinear) {
  const std::array<unsigned char, 8> bytes{0, 10, 188, 188, 255, 11, 128, 128};
  const FilledArray array(kByte4, make_hipExtent(2, 0, 0), bytes.data());
  hipTextureDesc how = sampling(hipAddressModeClamp, hipFilterModePoint, false, hipReadModeNormalizedFloat);
  how.sRGB = 1;
  const Texture texture(resource_of(array.get()), how);
  const std::vector<float> got = texture.read_all(Reading::k1D, {{0}, {1}});
  const std::vector<float> wanted{0, 0.00303527f, 0.502886f, 188 / 255.0f,
                                  1, 0.00334654f, 0.215861f, 128 / 255.0f};
  const float precision = is_nvidia() ? 2e-3f : 1e-6f;  // its hardware has a table
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], precision) << i;
}

TEST(TextureReads, MirroredNeighboursAreMixed) {
  const std::vector<float> values{0, 10, 20, 40};
  const FilledArray line(kFloat, make_hipExtent(4, 0, 0), values.data());
  const Texture texture(resource_of(line.get()), sampling(hipAddressModeMirror, hipFilterModeLinear, true));
  EXPECT_EQ(texture.read(Reading::k1D, {{0}, {1}, {1.25f}, {-0.25f}, {2}}),
            (std::vector<float>{0, 40, 30, 5, 0}));
}

TEST(TextureReads, ViewsOfLevels) {
  const FilledLevels levels(make_hipExtent(8, 8, 0), 4);
  hipTextureDesc how = sampling(hipAddressModeClamp, hipFilterModeLinear, true);
  how.mipmapFilterMode = hipFilterModeLinear;
  how.maxMipmapLevelClamp = 9;
  hipResourceViewDesc view{};
  view.format = hipResViewFormatFloat1;
  view.width = view.height = 8;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const Texture texture(levels.resource(), how, &view);
  EXPECT_EQ(texture.read(Reading::k2DLod, {{0.5f, 0.5f, 0, 0, 0}, {0.5f, 0.5f, 0, 0, 0.5f}, {0, 0, 0, 0, 3}}),
            (std::vector<float>{10, 15, 20}));
  hipTextureObject_t wrong = nullptr;
  const hipResourceDesc resource = levels.resource();
  view.lastMipmapLevel = 4;
  EXPECT_EQ(hipCreateTextureObject(&wrong, &resource, &how, &view), hipErrorInvalidValue);
  view.firstMipmapLevel = 3;
  view.lastMipmapLevel = 2;
  EXPECT_EQ(hipCreateTextureObject(&wrong, &resource, &how, &view), hipErrorInvalidValue);
}

TEST(TextureReads, ViewsOfLayers) {
  const auto values = ramp(2 * 2 * 3);
  const FilledArray array(kFloat, make_hipExtent(2, 2, 3), values.data(), hipArrayLayered);
  const hipResourceDesc resource = resource_of(array.get());
  const auto how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
  hipResourceViewDesc view{};
  view.format = hipResViewFormatFloat1;
  view.width = view.height = 2;
  view.depth = 2;
  view.firstLayer = 1;
  view.lastLayer = 2;
  const Texture texture(resource, how, &view);
  EXPECT_EQ(texture.read(Reading::k2DLayered, {{0, 0, 0, 0}, {1, 1, 0, 1}, {0, 0, 0, 5}}),
            (std::vector<float>{4, 11, 8}));
  hipTextureObject_t wrong = nullptr;
  view.lastLayer = 3;
  EXPECT_EQ(hipCreateTextureObject(&wrong, &resource, &how, &view), hipErrorInvalidValue);
  view.firstLayer = 2;
  view.lastLayer = 1;
  EXPECT_EQ(hipCreateTextureObject(&wrong, &resource, &how, &view), hipErrorInvalidValue);
}

TEST(Texture, MemoryHasOneTwoOrFourChannels) {
  DeviceBuffer memory(4096);
  HIP_TEXTURE_DESC how{};
  for (const unsigned channels : {0u, 1u, 2u, 3u, 4u, 5u}) {
    HIP_RESOURCE_DESC resource{};
    resource.resType = HIP_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = memory.get();
    resource.res.linear.format = HIP_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = channels;
    resource.res.linear.sizeInBytes = 4096;
    hipTextureObject_t texture = nullptr;
    const bool known = channels == 1 || channels == 2 || channels == 4;
    EXPECT_EQ(hipTexObjectCreate(&texture, &resource, &how, nullptr),
              known ? hipSuccess : hipErrorInvalidValue)
        << channels;
    HIP_OK(hipTexObjectDestroy(texture));
  }
}

}  // namespace
}  // namespace tf::api_test
