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

}  // namespace tf::api_test
