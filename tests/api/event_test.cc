// SPDX-License-Identifier: Apache-2.0
// Events: recording, asking, times.
#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "hipcore/newer/launch.h"
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

TEST(Event, BadArgumentsAreRefused) {
  hipEvent_t event = nullptr;
  EXPECT_EQ(hipEventCreate(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipEventCreateWithFlags(&event, 0x800), hipErrorInvalidValue);
  EXPECT_EQ(hipEventCreateWithFlags(&event, hipEventReleaseToDevice | hipEventReleaseToSystem),
            hipErrorInvalidValue);
  EXPECT_EQ(hipEventCreateWithFlags(&event, hipEventReleaseToSystem | hipEventDisableSystemFence),
            hipErrorInvalidValue);
  EXPECT_EQ(hipEventRecord(nullptr, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventSynchronize(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventQuery(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventDestroy(nullptr), hipErrorInvalidHandle);
}

TEST(Event, DestroyedTwice) {
  if (is_nvidia() && !is_remote())
    GTEST_SKIP() << "NVIDIA's driver does not look whether an event is still there";
  hipEvent_t event = nullptr;
  HIP_OK(hipEventCreate(&event));
  HIP_OK(hipEventDestroy(event));
  EXPECT_EQ(hipEventDestroy(event), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipEventQuery(event), hipErrorInvalidHandle);
}

TEST(Event, OneFlagOfItsVisibility) {
  for (const unsigned flag : std::array<unsigned, 3>{hipEventReleaseToDevice, hipEventReleaseToSystem,
                                                     hipEventDisableSystemFence}) {
    TestEvent event(flag);
    HIP_OK(hipEventRecord(event, nullptr));
    HIP_OK(hipEventSynchronize(event));
  }
}

TEST(Event, NeverRecorded) {
  TestEvent event;
  TestEvent other;
  HIP_OK(hipEventQuery(event));
  HIP_OK(hipEventSynchronize(event));
  float milliseconds = 0;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event, other), hipErrorInvalidHandle);
}

// A time that was said before is of earlier recordings.
TEST(Event, TimesAreOfTheLastRecordings) {
  constexpr std::chrono::milliseconds kGap{20};
  TestStream stream;
  TestEvent start;
  TestEvent stop;
  const auto measured = [&] {
    float milliseconds = -1;
    EXPECT_EQ(hipEventSynchronize(stop), hipSuccess);
    EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), hipSuccess);
    float again = -1;
    EXPECT_EQ(hipEventElapsedTime(&again, start, stop), hipSuccess);
    EXPECT_EQ(again, milliseconds);
    return milliseconds;
  };
  for (int round = 1; round <= 3; ++round) {
    HIP_OK(hipEventRecord(start, stream));
    HIP_OK(hipEventSynchronize(start));
    std::this_thread::sleep_for(round * kGap);
    HIP_OK(hipEventRecord(stop, stream));
    EXPECT_GE(measured(), 0.9F * static_cast<float>(round * kGap.count())) << round;
  }
  std::this_thread::sleep_for(kGap);
  HIP_OK(hipEventRecord(stop, stream));
  EXPECT_GE(measured(), 0.9F * 4 * static_cast<float>(kGap.count())) << "the stop again";
  HIP_OK(hipEventRecord(start, stream));
  HIP_OK(hipEventSynchronize(start));
  EXPECT_LE(measured(), 0) << "the start again, behind the stop";
}

TEST(Event, TimesAreOfEachPair) {
  TestStream stream;
  TestEvent first;
  TestEvent second;
  TestEvent stop;
  for (int round = 0; round < 3; ++round) {
    HIP_OK(hipEventRecord(first, stream));
    HIP_OK(hipEventSynchronize(first));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    HIP_OK(hipEventRecord(second, stream));
    HIP_OK(hipEventRecord(stop, stream));
    HIP_OK(hipEventSynchronize(stop));
    float from_first = 0;
    float from_second = 0;
    HIP_OK(hipEventElapsedTime(&from_first, first, stop));
    HIP_OK(hipEventElapsedTime(&from_second, second, stop));
    EXPECT_GE(from_first, from_second + 9);
    HIP_OK(hipEventElapsedTime(&from_first, first, stop));
    EXPECT_GE(from_first, from_second + 9);
  }
}

// The event from which the time is taken goes while another thread waits for it.
TEST(Event, TheStartOfATimeMayGoFirst) {
  TestStream stream;
  TestEvent stop;
  auto start = std::make_unique<TestEvent>();
  for (int round = 0; round < 2; ++round) {
    HIP_OK(hipEventRecord(*start, stream));
    HIP_OK(hipEventRecord(stop, stream));
    HIP_OK(hipEventSynchronize(stop));
    float milliseconds = 0;
    HIP_OK(hipEventElapsedTime(&milliseconds, *start, stop));
  }
  Gate gate;
  HIP_OK(hipEventRecord(*start, stream));
  gate.close(stream);
  HIP_OK(hipEventRecord(stop, stream));
  std::thread waiter([&] { EXPECT_EQ(hipEventSynchronize(stop), hipSuccess); });
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    gate.open();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  start.reset();
  waiter.join();
  opener.join();
}

TEST(Event, QueryFollowsTheStream) {
  TestStream stream;
  TestEvent event;
  Gate gate;
  gate.close(stream);
  HIP_OK(hipEventRecord(event, stream));
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  gate.open();
  HIP_OK(hipEventSynchronize(event));
  HIP_OK(hipEventQuery(event));
}

// While other work keeps the device busy, what is known of an event must not outlive its recording.
TEST(Event, RecordedAgainItIsAnotherMatter) {
  TestStream busy;
  TestStream stream;
  TestEvent event;
  Gate background;
  if (runs_host_functions_at_once()) background.close(busy);
  for (int round = 0; round < 3; ++round) {
    Gate gate;
    gate.close(stream);
    HIP_OK(hipEventRecord(event, stream));
    EXPECT_EQ(hipEventQuery(event), hipErrorNotReady) << "round " << round;
    EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
    gate.open();
    HIP_OK(hipEventSynchronize(event));
    HIP_OK(hipEventQuery(event));
    HIP_OK(hipEventQuery(event));
    HIP_OK(hipEventSynchronize(event));
  }
  background.open();
  HIP_OK(hipStreamSynchronize(busy));
}

TEST(Event, ElapsedTimeIsReal) {
  TestStream stream;
  TestEvent start;
  TestEvent stop;
  Gate gate;
  HIP_OK(hipEventRecord(start, stream));
  gate.close(stream);
  HIP_OK(hipEventRecord(stop, stream));
  float milliseconds = -1;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), hipErrorNotReady);
  HIP_OK(hipEventSynchronize(start));  // its time is taken when the stream gets there
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  gate.open();
  HIP_OK(hipEventSynchronize(stop));
  HIP_OK(hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT_GE(milliseconds, 25.0f);
  EXPECT_LT(milliseconds, 5000.0f);
  float reverse = 0;
  HIP_OK(hipEventElapsedTime(&reverse, stop, start));
  EXPECT_FLOAT_EQ(reverse, -milliseconds);
  EXPECT_EQ(hipEventElapsedTime(nullptr, start, stop), hipErrorInvalidValue);
}

TEST(Event, WithoutTimingHasNoTime) {
  TestEvent timed;
  TestEvent untimed(hipEventDisableTiming);
  HIP_OK(hipEventRecord(timed, nullptr));
  HIP_OK(hipEventRecord(untimed, nullptr));
  HIP_OK(hipDeviceSynchronize());
  float milliseconds = 0;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, timed, untimed), hipErrorInvalidHandle);
}

TEST(Event, RecordedAgain) {
  TestStream stream;
  TestEvent start;
  TestEvent event;
  HIP_OK(hipEventRecord(start, stream));
  float last = -1;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    HIP_OK(hipEventRecord(event, stream));
    HIP_OK(hipEventSynchronize(event));
    float milliseconds = 0;
    HIP_OK(hipEventElapsedTime(&milliseconds, start, event));
    EXPECT_GT(milliseconds, last);
    last = milliseconds;
  }
}

TEST(Event, DestroyedWhilePending) {
  TestStream stream;
  Gate gate;
  gate.close(stream);
  hipEvent_t event = nullptr;
  HIP_OK(hipEventCreate(&event));
  HIP_OK(hipEventRecord(event, stream));
  HIP_OK(hipEventDestroy(event));
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_NE(hipEventQuery(event), hipSuccess);
}

TEST(Event, BelongsToItsDevice) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  TestEvent event;
  HIP_OK(hipSetDevice(1));
  {
    TestStream stream;
    EXPECT_EQ(hipEventRecord(event, stream), hipErrorInvalidHandle);
  }
  HIP_OK(hipSetDevice(0));
}

}  // namespace
}  // namespace tf::api_test
