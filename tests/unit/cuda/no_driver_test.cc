// SPDX-License-Identifier: Apache-2.0
// The runtime on a machine without a driver.
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <cstdlib>
#include <string>

#include "worker/runtime/common/extensions.h"

namespace {

const int kNoDriver = ::setenv("HIP_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);

TEST(CudaWithoutDriver, SaysThatThereIsNoDevice) {
  ASSERT_EQ(kNoDriver, 0);
  int count = 7;
  EXPECT_EQ(hipInit(0), hipErrorNoDevice);
  EXPECT_EQ(hipGetDeviceCount(&count), hipErrorNoDevice);
  EXPECT_EQ(count, 0);
  void* pointer = nullptr;
  EXPECT_EQ(hipMalloc(&pointer, 16), hipErrorNoDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorNoDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(hipSetDevice(0), hipErrorNoDevice);
  EXPECT_EQ(hipStreamSynchronize(nullptr), hipErrorNoDevice);
  EXPECT_EQ(hipDeviceReset(), hipErrorNoDevice);
  hipDeviceProp_t properties;
  EXPECT_EQ(hipGetDeviceProperties(&properties, 0), hipErrorInvalidDevice);
  EXPECT_STREQ(hipGetErrorName(hipErrorNoDevice), "hipErrorNoDevice");
}

TEST(CudaWithoutDriver, SaysWhy) {
  const char* const reason = hipRemoteUnavailableReason();
  ASSERT_NE(reason, nullptr);
  EXPECT_NE(std::string(reason).find("/nowhere/libcuda.so.1"), std::string::npos) << reason;
}

}  // namespace
