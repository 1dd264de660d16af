// SPDX-License-Identifier: Apache-2.0
// Limits of devices: what is set is what is told, for the device that was current. And the profiler's switch.
#include <thread>

#include "tests/api/hip_test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value);  // HIP 5.3

namespace tf::api_test {
namespace {

constexpr auto kStackSize = static_cast<hipLimit_t>(0);  // hipLimitStackSize of HIP 5.3
// Outside the enum: conversions that the compiler must not see through.
volatile int raw_nosuchlimit = 77;
volatile int raw_negative = -1;

std::size_t limit_of(hipLimit_t limit) {
  std::size_t value = 0;
  EXPECT_EQ(hipDeviceGetLimit(&value, limit), hipSuccess);
  return value;
}

// Sets a limit, for the time of a test.
class Changed {
 public:
  Changed(hipLimit_t limit, std::size_t value) : limit_(limit), before_(limit_of(limit)) {
    EXPECT_EQ(hipDeviceSetLimit(limit, value), hipSuccess);
  }
  ~Changed() { EXPECT_EQ(hipDeviceSetLimit(limit_, before_), hipSuccess); }
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;

 private:
  const hipLimit_t limit_;
  const std::size_t before_;
};

TEST(Limit, OfStacksIsToldAsItWasSet) {
  const std::size_t stack = limit_of(kStackSize);
  EXPECT_GT(stack, 0u);
  {
    const Changed lower(kStackSize, 4096);
    EXPECT_GE(limit_of(kStackSize), 4096u);
    EXPECT_LT(limit_of(kStackSize), 8192u);
  }
  EXPECT_EQ(limit_of(kStackSize), stack);
}

TEST(Limit, OfTheHeapIsToldAsItWasSet) {
  const std::size_t heap = limit_of(hipLimitMallocHeapSize);
  EXPECT_GT(heap, 0u);
  // CUDA driver API, cuCtxSetLimit(): not after a kernel that allocates, such as those of heap_test.cc.
  if (hipDeviceSetLimit(hipLimitMallocHeapSize, heap) == hipErrorInvalidValue)
    GTEST_SKIP() << "kernels have allocated, and this runtime changes the limit only before that";
  const Changed higher(hipLimitMallocHeapSize, heap * 2);
  EXPECT_GE(limit_of(hipLimitMallocHeapSize), heap * 2);
  std::thread other([&] { EXPECT_GE(limit_of(hipLimitMallocHeapSize), heap * 2) << "every thread sees it"; });
  other.join();
}

TEST(Limit, BelongsToTheDevice) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  const std::size_t before = limit_of(hipLimitMallocHeapSize);
  const Changed heap(hipLimitMallocHeapSize, before * 2);
  HIP_OK(hipSetDevice(1));
  EXPECT_EQ(limit_of(hipLimitMallocHeapSize), before);
  HIP_OK(hipSetDevice(0));
  EXPECT_EQ(limit_of(hipLimitMallocHeapSize), before * 2);
}

TEST(Limit, WrongOnesAreRefused) {
  std::size_t value = 5;
  EXPECT_EQ(hipDeviceGetLimit(nullptr, hipLimitMallocHeapSize), hipErrorInvalidValue);
  for (const int number : {raw_nosuchlimit, raw_negative}) {
    EXPECT_EQ(hipDeviceGetLimit(&value, static_cast<hipLimit_t>(number)), hipErrorUnsupportedLimit) << number;
    EXPECT_EQ(hipDeviceSetLimit(static_cast<hipLimit_t>(number), 1024), hipErrorUnsupportedLimit) << number;
    EXPECT_EQ(hipPeekAtLastError(), hipErrorUnsupportedLimit);
  }
  EXPECT_EQ(value, 5u);
  if (is_nvidia()) return;  // the driver takes what it can get
  const std::size_t stack = limit_of(kStackSize);
  EXPECT_EQ(hipDeviceSetLimit(kStackSize, std::size_t{1} << 40), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSetLimit(hipLimitMallocHeapSize, std::size_t{1} << 60), hipErrorInvalidValue);
  EXPECT_EQ(limit_of(kStackSize), stack);
}

// HIP's documentation: hipErrorNotSupported. A device of NVIDIA has a profiler to switch.
TEST(Profiler, AnswersAsTheRuntimeDoes) {
  const hipError_t expected = is_nvidia() ? hipSuccess : hipErrorNotSupported;
  EXPECT_EQ(hipProfilerStart(), expected);
  EXPECT_EQ(hipPeekAtLastError(), expected);
  EXPECT_EQ(hipProfilerStop(), expected);
}

}  // namespace
}  // namespace tf::api_test
