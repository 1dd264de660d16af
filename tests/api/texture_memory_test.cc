// SPDX-License-Identifier: Apache-2.0
// Textures of memory that the host reaches too, and how long objects keep the memory of an array.
#include <climits>
#include <numeric>

#include "tests/api/texture_fixture.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // texture references

namespace tf::api_test {
namespace {

hipResourceDesc line_of(void* memory, std::size_t bytes) {
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {memory, kFloat, bytes};
  return resource;
}

bool device_has(hipDeviceAttribute_t what) {
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, what, 0), hipSuccess);
  return value != 0;
}

// Reads 4096 bytes of the host and device, as a line, as rows and through references.
void read_host_memory(void* memory) {
  const auto how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
  auto* const values = static_cast<float*>(memory);
  std::iota(values, values + 1024, 3.0f);
  const Texture line(line_of(memory, 4096), how);
  EXPECT_EQ(line.read(Reading::kFetch, {{0}, {1023}}), (std::vector<float>{3, 1026}));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D = {memory, kFloat, 40, 8, 512};
  const Texture plane(resource, how);
  EXPECT_EQ(plane.read(Reading::k2D, {{39.5f, 7.5f}}), (std::vector<float>{3 + 7 * 128 + 39}));
  std::size_t offset = 0;
  HIP_OK(hipBindTexture(&offset, line_texture(), values + 1, &kFloat, UINT_MAX));
  EXPECT_EQ(offset, 4u);
  HIP_OK(hipBindTexture2D(&offset, plane_texture(), values + 256, &kByte, 64, 2, 512));
  EXPECT_EQ(offset, 0u);
  HIP_OK(hipUnbindTexture(line_texture()));
  HIP_OK(hipUnbindTexture(plane_texture()));
  hipTextureObject_t texture = nullptr;
  const hipResourceDesc beyond = line_of(memory, 1 << 30);
  EXPECT_EQ(hipCreateTextureObject(&texture, &beyond, &how, nullptr), hipErrorInvalidValue);
}

TEST(TextureReads, ManagedMemory) {
  if (!device_has(hipDeviceAttributeManagedMemory)) GTEST_SKIP() << "no managed memory";
  void* memory = nullptr;
  HIP_OK(hipMallocManaged(&memory, 4096, hipMemAttachGlobal));
  read_host_memory(memory);
  HIP_OK(hipFree(memory));
}

TEST(TextureReads, PinnedMemory) {
  const PinnedBuffer memory(4096);
  if (device_has(hipDeviceAttributeCanMapHostMemory)) return read_host_memory(memory.as<void>());
  hipTextureObject_t texture = nullptr;
  const hipResourceDesc resource = line_of(memory.as<void>(), 4096);
  const auto how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
  EXPECT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), hipErrorInvalidValue);
}

// No texture object was made of the memory before.
TEST(TextureReads, AReferenceOfPinnedMemory) {
  if (!device_has(hipDeviceAttributeCanMapHostMemory)) GTEST_SKIP() << "devices do not reach pinned memory";
  const PinnedBuffer memory(4096);
  std::size_t offset = 0;
  HIP_OK(hipBindTexture(&offset, line_texture(), memory.as<void>(), &kFloat, UINT_MAX));
  HIP_OK(hipUnbindTexture(line_texture()));
}

TEST(TextureReads, FreedMemoryIsRefused) {
  void* memory = nullptr;
  HIP_OK(hipMalloc(&memory, 4096));
  HIP_OK(hipFree(memory));
  const auto how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
  hipTextureObject_t texture = nullptr;
  hipResourceDesc resource = line_of(memory, 4096);
  EXPECT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), hipErrorInvalidValue);
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D = {memory, kFloat, 16, 4, 512};
  EXPECT_EQ(hipCreateTextureObject(&texture, &resource, &how, nullptr), hipErrorInvalidValue);
  std::size_t offset = 0;
  EXPECT_EQ(hipBindTexture2D(&offset, plane_texture(), memory, &kByte, 16, 4, 512), hipErrorInvalidValue);
}

// The memory of an array is used as long as an object reads it, whichever is destroyed first.
TEST(TextureReads, ObjectsKeepTheMemoryOfTheirArray) {
  constexpr std::size_t kBytes = 1024 * 1024 * 4;
  const auto how = sampling(hipAddressModeClamp, hipFilterModePoint, false);
  const auto used = [] {
    std::size_t left = 0, total = 0;
    EXPECT_EQ(hipMemGetInfo(&left, &total), hipSuccess);
    return total - left;
  };
  const std::size_t before = used();
  hipArray_t array = nullptr;
  HIP_OK(hipMallocArray(&array, &kFloat, 1024, 1024, hipArraySurfaceLoadStore));
  const hipResourceDesc resource = resource_of(array);
  hipTextureObject_t texture = nullptr;
  hipSurfaceObject_t surface = nullptr;
  HIP_OK(hipCreateTextureObject(&texture, &resource, &how, nullptr));
  HIP_OK(hipCreateSurfaceObject(&surface, &resource));
  EXPECT_EQ(used(), before + kBytes);
  HIP_OK(hipFreeArray(array));
  EXPECT_EQ(used(), before + kBytes);
  HIP_OK(hipDestroyTextureObject(texture));
  EXPECT_EQ(used(), before + kBytes);
  HIP_OK(hipDestroySurfaceObject(surface));
  EXPECT_EQ(used(), before);
}

}  // namespace
}  // namespace tf::api_test
