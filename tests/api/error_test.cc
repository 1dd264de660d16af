// SPDX-License-Identifier: Apache-2.0
// The last error, and the names and texts of codes.
#include <string>
#include <thread>

#include "tests/api/hip_test.h"

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

}  // namespace
}  // namespace tf::api_test
