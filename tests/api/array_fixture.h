// SPDX-License-Identifier: Apache-2.0
// What the tests of arrays and textures share.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/api/hip_test.h"

namespace tf::api_test {

// A value that may be none of the enumeration's.
template <typename Enum>
Enum number(unsigned value) {
  return static_cast<Enum>(value);
}

inline constexpr hipChannelFormatDesc kFloat{32, 0, 0, 0, hipChannelFormatKindFloat};
inline constexpr hipChannelFormatDesc kFloat4{32, 32, 32, 32, hipChannelFormatKindFloat};
inline constexpr hipChannelFormatDesc kByte4{8, 8, 8, 8, hipChannelFormatKindUnsigned};
inline constexpr hipChannelFormatDesc kByte{8, 0, 0, 0, hipChannelFormatKindUnsigned};
inline constexpr hipChannelFormatDesc kSigned8{8, 0, 0, 0, hipChannelFormatKindSigned};
inline constexpr hipChannelFormatDesc kShort{16, 0, 0, 0, hipChannelFormatKindUnsigned};
inline constexpr hipChannelFormatDesc kInt{32, 0, 0, 0, hipChannelFormatKindSigned};

class TestArray {
 public:
  TestArray(const hipChannelFormatDesc& elements, const hipExtent& extent, unsigned flags = hipArrayDefault) {
    EXPECT_EQ(hipMalloc3DArray(&array_, &elements, extent, flags), hipSuccess);
  }
  ~TestArray() { EXPECT_EQ(hipFreeArray(array_), hipSuccess); }
  TestArray(const TestArray&) = delete;
  TestArray& operator=(const TestArray&) = delete;

  hipArray_t get() const { return array_; }

 private:
  hipArray_t array_ = nullptr;
};

// A handle that is none.
inline hipArray_t stray() {
  static hipArray nowhere{};
  return &nowhere;
}

// All of an array from or to packed memory of the host.
inline hipMemcpy3DParms between(hipArray_t array, bool to_array, void* memory, const hipExtent& extent,
                                std::size_t element_bytes) {
  hipMemcpy3DParms p{};
  const hipPitchedPtr pointer =
      make_hipPitchedPtr(memory, extent.width * element_bytes, extent.width, extent.height);
  (to_array ? p.dstArray : p.srcArray) = array;
  (to_array ? p.srcPtr : p.dstPtr) = pointer;
  p.extent = extent;
  p.kind = to_array ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
  return p;
}

// An array with something in it.
class FilledArray {
 public:
  FilledArray(const hipChannelFormatDesc& elements, const hipExtent& extent, const void* from,
              unsigned flags = hipArrayDefault) {
    EXPECT_EQ(hipMalloc3DArray(&array_, &elements, extent, flags), hipSuccess);
    hipMemcpy3DParms up{};
    const int bits = elements.x + elements.y + elements.z + elements.w;
    const std::size_t row = extent.width * static_cast<std::size_t>(bits) / 8;
    const std::size_t height = std::max<std::size_t>(extent.height, 1);
    up.srcPtr = make_hipPitchedPtr(const_cast<void*>(from), row, row, height);
    up.dstArray = array_;
    up.extent = make_hipExtent(extent.width, height, std::max<std::size_t>(extent.depth, 1));
    up.kind = hipMemcpyHostToDevice;
    EXPECT_EQ(hipMemcpy3D(&up), hipSuccess);
  }
  ~FilledArray() { EXPECT_EQ(hipFreeArray(array_), hipSuccess); }
  FilledArray(const FilledArray&) = delete;
  FilledArray& operator=(const FilledArray&) = delete;

  hipArray_t get() const { return array_; }

 private:
  hipArray_t array_ = nullptr;
};

inline hipResourceDesc resource_of(hipArray_t array) {
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

inline std::vector<float> ramp(std::size_t count, float step = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) * step;
  return values;
}

}  // namespace tf::api_test
