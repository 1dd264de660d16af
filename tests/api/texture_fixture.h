// SPDX-License-Identifier: Apache-2.0
// A texture for the time of a test, and what kernels read through it.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/api/array_fixture.h"
#include "tests/api/texture_kernels.h"

namespace tf::api_test {

inline hipTextureDesc sampling(hipTextureAddressMode mode, hipTextureFilterMode filter, bool normalized,
                               hipTextureReadMode read = hipReadModeElementType) {
  hipTextureDesc how{};
  std::fill_n(how.addressMode, 3, mode);
  how.filterMode = filter;
  how.readMode = read;
  how.normalizedCoords = normalized ? 1 : 0;
  return how;
}

class Texture {
 public:
  Texture(const hipResourceDesc& resource, const hipTextureDesc& how,
          const hipResourceViewDesc* view = nullptr) {
    EXPECT_EQ(hipCreateTextureObject(&texture_, &resource, &how, view), hipSuccess);
  }
  ~Texture() { EXPECT_EQ(hipDestroyTextureObject(texture_), hipSuccess); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  hipTextureObject_t get() const { return texture_; }
  // The first channel at each coordinate.
  std::vector<float> read(Reading how, const std::vector<Coordinate>& at) const {
    const auto all = read_all(how, at, false);
    std::vector<float> first(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) first[i] = all[4 * i];
    return first;
  }
  std::vector<float> read_all(Reading how, const std::vector<Coordinate>& at, bool four = true) const {
    const int n = static_cast<int>(at.size());
    DeviceBuffer coordinates(at.size() * sizeof(Coordinate)), out(at.size() * 16);
    EXPECT_EQ(hipMemcpy(coordinates.get(), at.data(), at.size() * sizeof(Coordinate), hipMemcpyHostToDevice),
              hipSuccess);
    launch_read_texture(texture_, how, four, coordinates.get<Coordinate>(), out.get<float>(), n);
    std::vector<float> values(at.size() * 4);
    EXPECT_EQ(hipMemcpy(values.data(), out.get(), values.size() * 4, hipMemcpyDeviceToHost), hipSuccess);
    return values;
  }

 private:
  hipTextureObject_t texture_ = nullptr;
};

// A mipmapped array of floats. Every element of a level is ten times the level's number.
class FilledLevels {
 public:
  FilledLevels(const hipExtent& extent, unsigned levels) {
    EXPECT_EQ(hipMallocMipmappedArray(&mipmapped_, &kFloat, extent, levels, 0), hipSuccess);
    for (unsigned level = 0; level < levels; ++level) {
      hipArray_t array = nullptr;
      EXPECT_EQ(hipGetMipmappedArrayLevel(&array, mipmapped_, level), hipSuccess);
      const hipExtent size =
          make_hipExtent(array->width, std::max(array->height, 1u), std::max(array->depth, 1u));
      std::vector<float> values(size.width * size.height * size.depth, 10.0f * static_cast<float>(level));
      const auto up = between(array, true, values.data(), size, 4);
      EXPECT_EQ(hipMemcpy3D(&up), hipSuccess);
    }
  }
  ~FilledLevels() { EXPECT_EQ(hipFreeMipmappedArray(mipmapped_), hipSuccess); }
  FilledLevels(const FilledLevels&) = delete;
  FilledLevels& operator=(const FilledLevels&) = delete;

  hipMipmappedArray_t get() const { return mipmapped_; }
  hipResourceDesc resource() const {
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmapped_;
    return resource;
  }

 private:
  hipMipmappedArray_t mipmapped_ = nullptr;
};

}  // namespace tf::api_test
