// SPDX-License-Identifier: Apache-2.0
// Copies of every kind between work of every kind: each stream's own order is kept, whoever makes the copy.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <thread>

#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kBytes = 300'000;

// One stream with device memory of its own, and what must stand there when the stream has come to its end.
class Lane {
 public:
  Lane(hipStream_t stream, unsigned seed)
      : stream_(stream), random_(seed), device_(kBytes), pinned_(kBytes), expected_(kBytes), back_(kBytes) {}

  void fill_all() {
    ASSERT_EQ(hipMemsetAsync(device_.get(), 0, kBytes, stream_), hipSuccess);
    std::fill(expected_.begin(), expected_.end(), 0);
  }

  void step() {
    choose_part();
    switch (random_() % 8) {
      case 0: return fill();
      case 1: return from_pageable(false);
      case 2: return from_pageable(true);
      case 3: return from_pinned();
      case 4: return to_pageable();
      case 5: return to_pinned();
      case 6: return ask();
      default: return look();
    }
  }

  void look_at_all() {
    first_ = 0;
    count_ = kBytes;
    to_pageable();
  }

 private:
  void choose_part() {
    static constexpr std::array<std::size_t, 6> kCounts{1, 200, 5000, 20'000, 100'000, kBytes};
    count_ = kCounts[random_() % kCounts.size()];
    first_ = random_() % (kBytes - count_ + 1);
  }
  std::byte* part() const { return device_.at(first_); }

  void fill() {
    const int value = static_cast<int>(random_() % 251);
    ASSERT_EQ(hipMemsetAsync(part(), value, count_, stream_), hipSuccess);
    std::fill_n(expected_.begin() + static_cast<std::ptrdiff_t>(first_), count_,
                static_cast<unsigned char>(value));
  }

  // The source is overwritten as soon as it may be.
  void from_pageable(bool wait) {
    std::vector<unsigned char> source(count_);
    for (unsigned char& byte : source) byte = static_cast<unsigned char>(random_());
    std::copy(source.begin(), source.end(), expected_.begin() + static_cast<std::ptrdiff_t>(first_));
    const hipError_t copied =
        wait ? hipMemcpyWithStream(part(), source.data(), count_, hipMemcpyHostToDevice, stream_)
             : hipMemcpyAsync(part(), source.data(), count_, hipMemcpyHostToDevice, stream_);
    ASSERT_EQ(copied, hipSuccess);
    std::fill(source.begin(), source.end(), 0xee);
  }

  void from_pinned() {
    ASSERT_EQ(hipStreamSynchronize(stream_), hipSuccess);  // it may still be read, or written
    auto* const source = pinned_.as<unsigned char>();
    for (std::size_t i = 0; i < count_; ++i) source[i] = static_cast<unsigned char>(random_());
    std::copy_n(source, count_, expected_.begin() + static_cast<std::ptrdiff_t>(first_));
    ASSERT_EQ(hipMemcpyAsync(part(), source, count_, hipMemcpyHostToDevice, stream_), hipSuccess);
  }

  void to_pageable() {
    ASSERT_EQ(hipMemcpyWithStream(back_.data(), part(), count_, hipMemcpyDeviceToHost, stream_), hipSuccess);
    compare(back_.data());
  }

  void to_pinned() {
    auto* const target = pinned_.as<unsigned char>();
    ASSERT_EQ(hipMemcpyAsync(target, part(), count_, hipMemcpyDeviceToHost, stream_), hipSuccess);
    ASSERT_EQ(hipStreamSynchronize(stream_), hipSuccess);
    compare(target);
  }

  void ask() {
    const hipError_t state = hipStreamQuery(stream_);
    ASSERT_TRUE(state == hipSuccess || state == hipErrorNotReady) << hipGetErrorName(state);
    (void)hipGetLastError();
  }

  // Where a query has said that the stream is done, a copy on any other stream finds it done.
  void look() {
    if (hipStreamQuery(stream_) != hipSuccess) {
      (void)hipGetLastError();
      return;
    }
    ASSERT_EQ(hipMemcpy(back_.data(), part(), count_, hipMemcpyDeviceToHost), hipSuccess);
    compare(back_.data());
  }

  void compare(const unsigned char* got) const {
    const auto* const wanted = expected_.data() + first_;
    const auto differing = std::mismatch(got, got + count_, wanted);
    ASSERT_EQ(differing.first, got + count_)
        << "byte " << differing.first - got << " of " << count_ << " from " << first_;
  }

  hipStream_t stream_;
  std::minstd_rand random_;
  DeviceBuffer device_;
  PinnedBuffer pinned_;
  std::vector<unsigned char> expected_;
  std::vector<unsigned char> back_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

TEST(CopyOrder, RandomWorkOnThreeStreams) {
  TestStream ordered;
  TestStream unordered(hipStreamNonBlocking);
  Lane lanes[] = {{nullptr, 1}, {ordered, 2}, {unordered, 3}};
  std::minstd_rand random(4);
  for (Lane& lane : lanes) lane.fill_all();
  for (int step = 0; step < 1500 && !testing::Test::HasFatalFailure(); ++step) {
    lanes[random() % 3].step();
    if (step % 50 != 49) continue;
    HIP_OK(hipDeviceSynchronize());
  }
  for (Lane& lane : lanes) lane.look_at_all();
}

TEST(CopyOrder, RandomWorkOnOneStreamAtATime) {
  TestStream unordered(hipStreamNonBlocking);
  Lane lane(unordered, 5);
  lane.fill_all();
  for (int step = 0; step < 1000 && !testing::Test::HasFatalFailure(); ++step) lane.step();
  lane.look_at_all();
}

TEST(CopyOrder, RandomWorkOfTwoThreads) {
  auto work = [](unsigned seed) {
    TestStream stream(hipStreamNonBlocking);
    Lane lane(stream, seed);
    lane.fill_all();
    for (int step = 0; step < 500 && !testing::Test::HasFatalFailure(); ++step) lane.step();
    lane.look_at_all();
  };
  std::thread other(work, 6);
  work(7);
  other.join();
}

// A stream that stands still holds its copies back, however small, and nobody else's.
TEST(CopyOrder, ASmallCopyWaitsForItsStream) {
  DeviceBuffer held(64);
  DeviceBuffer free(64);
  PinnedBuffer target(64);
  HIP_OK(hipMemset(held.get(), 1, 64));
  HIP_OK(hipDeviceSynchronize());
  TestStream still(hipStreamNonBlocking);
  Gate gate;
  gate.close(still);
  HIP_OK(hipMemsetAsync(held.get(), 2, 64, still));
  auto* const seen = target.as<unsigned char>();
  seen[0] = 0;
  HIP_OK(hipMemcpyAsync(seen, held.get(), 64, hipMemcpyDeviceToHost, still));
  EXPECT_EQ(hipStreamQuery(still), hipErrorNotReady);
  (void)hipGetLastError();
  unsigned char other[64] = {7};
  TestStream moving(hipStreamNonBlocking);
  HIP_OK(hipMemcpyWithStream(free.get(), other, 64, hipMemcpyHostToDevice, moving));
  unsigned char back[64] = {};
  HIP_OK(hipMemcpyWithStream(back, free.get(), 64, hipMemcpyDeviceToHost, moving));
  EXPECT_EQ(back[0], 7);
  EXPECT_EQ(seen[0], 0);
  gate.open();
  HIP_OK(hipStreamSynchronize(still));
  EXPECT_EQ(seen[0], 2);
}

// Memory that was freed and given out again: what still used it has ended.
TEST(CopyOrder, ReusedMemoryIsNobodyElses) {
  TestStream stream(hipStreamNonBlocking);
  std::vector<unsigned char> back(kBytes);
  for (unsigned char round = 0; round < 20; ++round) {
    void* first = nullptr;
    HIP_OK(hipMalloc(&first, kBytes));
    for (int i = 0; i < 20; ++i) HIP_OK(hipMemsetAsync(first, 0xff, kBytes, stream));
    HIP_OK(hipFree(first));
    void* second = nullptr;
    HIP_OK(hipMalloc(&second, kBytes));
    const std::vector<unsigned char> source(kBytes, round);
    HIP_OK(hipMemcpy(second, source.data(), kBytes, hipMemcpyHostToDevice));
    HIP_OK(hipMemcpy(back.data(), second, kBytes, hipMemcpyDeviceToHost));
    EXPECT_TRUE(back == source);
    HIP_OK(hipFree(second));
  }
}

}  // namespace
}  // namespace tf::api_test
