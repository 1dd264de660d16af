// SPDX-License-Identifier: Apache-2.0
// Surfaces of every format and geometry: kernels read and write each element, and nothing beyond.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/api/array_fixture.h"
#include "tests/api/texture_kernels.h"

namespace tf::api_test {
namespace {

class Surface {
 public:
  explicit Surface(hipArray_t array) {
    const hipResourceDesc resource = resource_of(array);
    EXPECT_EQ(hipCreateSurfaceObject(&surface_, &resource), hipSuccess);
  }
  ~Surface() { EXPECT_EQ(hipDestroySurfaceObject(surface_), hipSuccess); }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  hipSurfaceObject_t get() const { return surface_; }

 private:
  hipSurfaceObject_t surface_ = nullptr;
};

std::size_t bytes_of(const hipChannelFormatDesc& elements) {
  return static_cast<std::size_t>(elements.x + elements.y + elements.z + elements.w) / 8;
}

// What the target has after all elements of a surface were copied to it.
std::vector<unsigned char> copied(const hipChannelFormatDesc& elements, const hipExtent& extent,
                                  unsigned flags, Geometry geometry,
                                  const std::vector<unsigned char>& bytes) {
  flags |= hipArraySurfaceLoadStore;
  const std::vector<unsigned char> nothing(bytes.size(), 0x5a);
  const FilledArray from(elements, extent, bytes.data(), flags), to(elements, extent, nothing.data(), flags);
  const hipExtent all = make_hipExtent(extent.width, std::max<std::size_t>(extent.height, 1),
                                       std::max<std::size_t>(extent.depth, 1));
  {
    const Surface source(from.get()), target(to.get());
    launch_copy_surface(source.get(), target.get(), geometry, static_cast<int>(all.width),
                        static_cast<int>(all.height), static_cast<int>(all.depth));
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  }
  std::vector<unsigned char> back(bytes.size());
  const hipMemcpy3DParms down = between(to.get(), false, back.data(), all, bytes_of(elements));
  EXPECT_EQ(hipMemcpy3D(&down), hipSuccess);
  return back;
}

// Bytes that differ from their neighbours; as floats of 16 and 32 bits they are numbers.
std::vector<unsigned char> distinct(std::size_t count) {
  std::vector<unsigned char> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>((i * 37 + i / 251) % 120);
  return bytes;
}

hipChannelFormatDesc format_of(int bits, int channels, hipChannelFormatKind kind) {
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
}

TEST(Surface, ElementsOfEveryFormat) {
  for (const int channels : {1, 2, 4}) {
    for (const int bits : {8, 16, 32}) {
      for (const auto kind :
           {hipChannelFormatKindSigned, hipChannelFormatKindUnsigned, hipChannelFormatKindFloat}) {
        if (kind == hipChannelFormatKindFloat && bits == 8) continue;  // there are none
        const hipChannelFormatDesc elements = format_of(bits, channels, kind);
        const auto bytes = distinct(7 * 5 * bytes_of(elements));
        EXPECT_EQ(copied(elements, make_hipExtent(7, 5, 0), 0, Geometry::k2D, bytes), bytes)
            << channels << " channels of " << bits << " bits, kind " << kind;
      }
    }
  }
}

TEST(Surface, IntegersKeepTheirSigns) {
  for (const int bits : {8, 16, 32}) {
    const hipChannelFormatDesc elements = format_of(bits, 4, hipChannelFormatKindSigned);
    std::vector<unsigned char> bytes(6 * bytes_of(elements));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(0x80 + 11 * i);
    EXPECT_EQ(copied(elements, make_hipExtent(6, 1, 0), 0, Geometry::k2D, bytes), bytes) << bits;
  }
}

struct Case {
  Geometry geometry;
  hipExtent extent;
  unsigned flags;
};
void expect_copies(const std::vector<Case>& cases) {
  for (const auto& [geometry, extent, flags] : cases) {
    const std::size_t elements =
        extent.width * std::max<std::size_t>(extent.height, 1) * std::max<std::size_t>(extent.depth, 1);
    for (const hipChannelFormatDesc& format : {kByte4, kShort, kFloat4}) {
      const auto bytes = distinct(elements * bytes_of(format));
      EXPECT_EQ(copied(format, extent, flags, geometry, bytes), bytes)
          << "geometry " << static_cast<int>(geometry) << ", elements of " << bytes_of(format);
    }
  }
}

TEST(Surface, EveryGeometry) {
  expect_copies({{Geometry::k1D, make_hipExtent(9, 0, 0), 0},
                 {Geometry::k1DLayered, make_hipExtent(9, 0, 3), hipArrayLayered},
                 {Geometry::k2D, make_hipExtent(9, 5, 0), 0},
                 {Geometry::k2DLayered, make_hipExtent(9, 5, 3), hipArrayLayered},
                 {Geometry::k3D, make_hipExtent(9, 5, 4), 0}});
}

TEST(Surface, Cubemaps) {
  expect_copies({{Geometry::kCubemap, make_hipExtent(4, 4, 6), hipArrayCubemap},
                 {Geometry::kCubemapLayered, make_hipExtent(4, 4, 12), hipArrayCubemap | hipArrayLayered}});
}

}  // namespace
}  // namespace tf::api_test
