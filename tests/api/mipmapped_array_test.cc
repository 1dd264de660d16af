// SPDX-License-Identifier: Apache-2.0
// Mipmapped arrays and their levels.
#include "tests/api/array_fixture.h"

namespace tf::api_test {
namespace {

TEST(MipmappedArray, LevelsAreArraysOfHalfTheSize) {
  hipMipmappedArray_t mipmapped = nullptr;
  HIP_OK(hipMallocMipmappedArray(&mipmapped, &kFloat, make_hipExtent(20, 12, 0), 4, 0));
  EXPECT_EQ(mipmapped->max_mipmap_level, 3u);
  EXPECT_EQ(mipmapped->width, 20u);
  std::vector<std::vector<std::uint32_t>> all;
  for (unsigned level = 0; level < 4; ++level) {
    hipArray_t array = nullptr;
    HIP_OK(hipGetMipmappedArrayLevel(&array, mipmapped, level));
    EXPECT_EQ(array->width, 20u >> level);
    EXPECT_EQ(array->height, 12u >> level);
    all.push_back(counting(array->width * array->height, 100 * level));
    auto up = between(array, true, all.back().data(), make_hipExtent(array->width, array->height, 1), 4);
    HIP_OK(hipMemcpy3D(&up));
  }
  for (unsigned level = 0; level < 4; ++level) {
    hipArray_t array = nullptr;
    HIP_OK(hipMipmappedArrayGetLevel(&array, mipmapped, level));
    std::vector<std::uint32_t> back(all[level].size());
    auto down = between(array, false, back.data(), make_hipExtent(array->width, array->height, 1), 4);
    HIP_OK(hipMemcpy3D(&down));
    EXPECT_EQ(back, all[level]);
    HIP_OK(hipFreeArray(array));
  }
  HIP_OK(hipFreeMipmappedArray(mipmapped));
  EXPECT_EQ(hipFreeMipmappedArray(mipmapped), hipErrorContextIsDestroyed);
}

TEST(MipmappedArray, WhatCannotBeIsRefused) {
  hipMipmappedArray_t mipmapped = nullptr;
  const hipExtent extent = make_hipExtent(16, 16, 0);
  EXPECT_EQ(hipMallocMipmappedArray(nullptr, &kFloat, extent, 2, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocMipmappedArray(&mipmapped, nullptr, extent, 2, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocMipmappedArray(&mipmapped, &kFloat, extent, 6, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocMipmappedArray(&mipmapped, &kFloat, extent, 0, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMipmappedArrayCreate(&mipmapped, nullptr, 2), hipErrorInvalidValue);
  EXPECT_EQ(hipFreeMipmappedArray(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipMipmappedArrayDestroy(nullptr), hipErrorInvalidValue);
  HIP_ARRAY3D_DESCRIPTOR wish{16, 16, 0, HIP_AD_FORMAT_FLOAT, 1, 0};
  HIP_OK(hipMipmappedArrayCreate(&mipmapped, &wish, 5));
  hipArray_t array = nullptr;
  EXPECT_EQ(hipGetMipmappedArrayLevel(nullptr, mipmapped, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGetMipmappedArrayLevel(&array, nullptr, 0), hipErrorInvalidHandle);
  EXPECT_EQ(hipGetMipmappedArrayLevel(&array, mipmapped, 5), hipErrorInvalidValue);
  HIP_OK(hipMipmappedArrayGetLevel(&array, mipmapped, 4));
  EXPECT_EQ(array->width, 1u);
  HIP_OK(hipMipmappedArrayDestroy(mipmapped));
  EXPECT_EQ(hipFreeArray(array), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipGetMipmappedArrayLevel(&array, mipmapped, 0), hipErrorInvalidHandle);
}

}  // namespace
}  // namespace tf::api_test
