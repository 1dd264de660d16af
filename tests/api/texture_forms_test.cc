// SPDX-License-Identifier: Apache-2.0
// Cubemaps, their layers and views, and what lies outside of memory.
#include <array>
#include <climits>

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

TEST_F(TextureReads, AViewOfACubemapHasAllFaces) {
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

TEST_F(TextureReads, LayersOfCubemaps) {
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

TEST_F(TextureReads, LoadsBeyondTheLastLayerAreZero) {
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
TEST_F(TextureReads, ReferencesToRowsThatAreNotAligned) {
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
