// SPDX-License-Identifier: Apache-2.0
// The last error, and the names and texts of codes.
#include <string>
#include <thread>

#include "tests/api/hip_test.h"

extern "C" {  // HIP 5.3
hipError_t hipDrvGetErrorName(hipError_t error, const char** name);
hipError_t hipDrvGetErrorString(hipError_t error, const char** text);
}

namespace tf::api_test {
namespace {

// Outside the enum: a conversion that the compiler must not see through.
volatile int raw_nosucherror = 4242;
const auto kNoSuchError = static_cast<hipError_t>(raw_nosucherror);

TEST(Error, LastErrorIsTakenOnce) {
  static_cast<void>(hipGetLastError());
  EXPECT_EQ(hipSetDevice(12345), hipErrorInvalidDevice);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST(Error, LastErrorBelongsToTheThread) {
  static_cast<void>(hipGetLastError());
  hipError_t seen = hipErrorUnknown;
  EXPECT_EQ(hipSetDevice(12345), hipErrorInvalidDevice);
  std::thread other([&] { seen = hipGetLastError(); });
  other.join();
  EXPECT_EQ(seen, hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
}

TEST(Error, NamesAndTexts) {
  EXPECT_EQ(std::string(hipGetErrorName(hipSuccess)), "hipSuccess");
  EXPECT_EQ(std::string(hipGetErrorName(hipErrorOutOfMemory)), "hipErrorOutOfMemory");
  EXPECT_EQ(std::string(hipGetErrorName(hipErrorNotReady)), "hipErrorNotReady");
  EXPECT_EQ(std::string(hipGetErrorString(hipErrorInvalidValue)), "invalid argument");
  EXPECT_EQ(std::string(hipGetErrorString(hipErrorOutOfMemory)), "out of memory");
  EXPECT_NE(hipGetErrorString(kNoSuchError), nullptr);
  EXPECT_NE(hipGetErrorName(kNoSuchError), nullptr);
}

TEST(Error, NamesAndTextsOfTheDriverApi) {
  const char* text = nullptr;
  HIP_OK(hipDrvGetErrorName(hipErrorNotReady, &text));
  EXPECT_EQ(std::string(text), "hipErrorNotReady");
  HIP_OK(hipDrvGetErrorString(hipErrorInvalidValue, &text));
  EXPECT_EQ(std::string(text), "invalid argument");
  HIP_OK(hipDrvGetErrorName(hipErrorUnknown, &text));
  EXPECT_EQ(std::string(text), "hipErrorUnknown");
  EXPECT_EQ(hipDrvGetErrorName(hipSuccess, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipDrvGetErrorString(hipSuccess, nullptr), hipErrorInvalidValue);
  text = nullptr;
  EXPECT_EQ(hipDrvGetErrorName(kNoSuchError, &text), hipErrorInvalidValue);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(std::string(text), hipGetErrorName(kNoSuchError));
  EXPECT_EQ(hipDrvGetErrorString(kNoSuchError, &text), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
