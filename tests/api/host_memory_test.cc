// SPDX-License-Identifier: Apache-2.0
// Pinned and registered host memory.
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

TEST(HostMemory, MallocAndAttributes) {
  PinnedBuffer buffer(10000);
  auto* const bytes = buffer.as<char>();
  ASSERT_NE(bytes, nullptr);
  bytes[0] = 1;
  bytes[9999] = 2;
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, bytes + 10));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, bytes + 10);
  unsigned flags = 77;
  HIP_OK(hipHostGetFlags(&flags, bytes));
  int on_stack = 0;
  EXPECT_EQ(hipHostGetFlags(&flags, &on_stack), hipErrorInvalidValue);
  void* device = nullptr;
  EXPECT_EQ(hipHostGetDevicePointer(&device, &on_stack, 0), hipErrorInvalidValue);
}

TEST(HostMemory, HasADevicePointer) {
  PinnedBuffer buffer(10000);
  void* device = nullptr;
  const hipError_t error = hipHostGetDevicePointer(&device, buffer.as<char>(), 0);
  // A pointer that kernels could not follow would be worse than none: the proxy says so instead.
  if (is_remote() && error == hipErrorNotSupported)
    GTEST_SKIP() << "devices do not reach host memory here, hipHostGetDevicePointer is refused";
  EXPECT_EQ(error, hipSuccess);
  EXPECT_NE(device, nullptr);
}

TEST(HostMemory, EdgesOfMalloc) {
  void* pointer = &pointer;
  HIP_OK(hipHostMalloc(&pointer, 0, hipHostMallocDefault));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(hipHostMalloc(static_cast<void**>(nullptr), 10, hipHostMallocDefault), hipErrorInvalidValue);
  EXPECT_EQ(hipHostMalloc(&pointer, 10, 0x100), hipErrorInvalidValue);
  HIP_OK(hipHostFree(nullptr));
}

TEST(HostMemory, RegisterAndCopy) {
  const auto values = counting(100000, 9);
  std::vector<std::uint32_t> source = values;
  const std::size_t bytes = source.size() * sizeof source[0];
  HIP_OK(hipHostRegister(source.data(), bytes, hipHostRegisterDefault));
  EXPECT_EQ(hipHostRegister(source.data(), bytes, hipHostRegisterDefault),
            hipErrorHostMemoryAlreadyRegistered);
  DeviceBuffer device(bytes);
  TestStream stream;
  HIP_OK(hipMemcpyAsync(device.get(), source.data(), bytes, hipMemcpyHostToDevice, stream));
  HIP_OK(hipStreamSynchronize(stream));
  std::vector<std::uint32_t> back(source.size());
  HIP_OK(hipMemcpy(back.data(), device.get(), bytes, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, values);
  HIP_OK(hipHostUnregister(source.data()));
  EXPECT_EQ(hipHostUnregister(source.data()), hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(hipHostRegister(nullptr, 10, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipHostRegister(source.data(), 0, 0), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
