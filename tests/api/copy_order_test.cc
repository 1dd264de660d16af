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

// More copies than the worker has large staging slots stand behind a host function, which must still end.
TEST(CopyOrder, ManySmallCopiesBehindAHostFunction) {
  constexpr std::size_t kCopies = 200;
  TestStream stream;
  for (const std::size_t bytes : {8u << 10, 16u << 10, 48u << 10}) {
    DeviceBuffer device(kCopies * bytes);
    const auto late = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
    HIP_OK(hipLaunchHostFunc(stream, late, nullptr));
    std::vector<unsigned char> source(bytes);
    for (std::size_t copy = 0; copy < kCopies; ++copy) {
      std::fill(source.begin(), source.end(), static_cast<unsigned char>(copy));
      HIP_OK(hipMemcpyAsync(device.at(copy * bytes), source.data(), bytes, hipMemcpyHostToDevice, stream));
    }
    HIP_OK(hipStreamSynchronize(stream));
    std::vector<unsigned char> back(kCopies * bytes);
    HIP_OK(hipMemcpy(back.data(), device.get(), back.size(), hipMemcpyDeviceToHost));
    for (std::size_t copy = 0; copy < kCopies; ++copy) {
      const auto first = back.begin() + static_cast<std::ptrdiff_t>(copy * bytes);
      const auto end = first + static_cast<std::ptrdiff_t>(bytes);
      ASSERT_EQ(std::count(first, end, static_cast<unsigned char>(copy)), end - first)
          << copy << " of " << bytes;
    }
  }
}

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

// Two copies in a row to the same memory, however their bytes travel: those of the second stay.
class CopyOverACopy : public ::testing::TestWithParam<std::size_t> {
 protected:
  // What [0, bytes_) must be: 1, and 2 in the middle part that the second copy wrote.
  testing::AssertionResult is_right(const unsigned char* bytes) const {
    for (std::size_t at = 0; at < bytes_; ++at) {
      const bool second = at >= first_ && at < first_ + count_;
      if (bytes[at] != (second ? 2 : 1))
        return testing::AssertionFailure() << "byte " << at << " of " << bytes_;
    }
    return testing::AssertionSuccess();
  }
  void choose_part(int round) {
    count_ = round % 3 == 0 ? bytes_ : bytes_ / (round % 3 == 1 ? 4 : 2);
    first_ = (bytes_ - count_) / 2;
  }

  static constexpr int kRounds = 12;
  const std::size_t bytes_ = GetParam();
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  TestStream stream_{hipStreamNonBlocking};
};

TEST_P(CopyOverACopy, ToTheDevice) {
  PinnedBuffer ones(bytes_);
  PinnedBuffer twos(bytes_);
  std::fill_n(ones.as<unsigned char>(), bytes_, static_cast<unsigned char>(1));
  std::fill_n(twos.as<unsigned char>(), bytes_, static_cast<unsigned char>(2));
  DeviceBuffer device(bytes_);
  std::vector<unsigned char> back(bytes_);
  for (int round = 0; round < kRounds; ++round) {
    choose_part(round);
    HIP_OK(hipMemcpyAsync(device.get(), ones.as<void>(), bytes_, hipMemcpyHostToDevice, stream_));
    HIP_OK(hipMemcpyAsync(device.at(first_), twos.as<void>(), count_, hipMemcpyHostToDevice, stream_));
    HIP_OK(hipMemcpyWithStream(back.data(), device.get(), bytes_, hipMemcpyDeviceToHost, stream_));
    ASSERT_TRUE(is_right(back.data())) << "round " << round;
  }
}

class CopyOverACopyFromTheDevice : public CopyOverACopy {
 protected:
  void SetUp() override {
    HIP_OK(hipMemset(ones_.get(), 1, bytes_));
    HIP_OK(hipMemset(twos_.get(), 2, bytes_));
    HIP_OK(hipDeviceSynchronize());
  }
  // `first` posts the first copy to target_. Bytes that no copy brings are `before`.
  template <typename First>
  void copy_over(unsigned char before, First&& first) {
    for (int round = 0; round < kRounds; ++round) {
      choose_part(round);
      std::fill_n(target_, bytes_, before);
      first();
      HIP_OK(hipMemcpyAsync(target_ + first_, twos_.get(), count_, hipMemcpyDeviceToHost, stream_));
      HIP_OK(hipStreamSynchronize(stream_));
      ASSERT_TRUE(is_right(target_)) << "round " << round;
    }
  }

  DeviceBuffer ones_{bytes_};
  DeviceBuffer twos_{bytes_};
  PinnedBuffer pinned_{bytes_};
  unsigned char* const target_ = pinned_.as<unsigned char>();
};

TEST_P(CopyOverACopyFromTheDevice, OverALine) {
  copy_over(0xee,
            [this] { HIP_OK(hipMemcpyAsync(target_, ones_.get(), bytes_, hipMemcpyDeviceToHost, stream_)); });
}

// Rows may be unpacked when they are waited for.
TEST_P(CopyOverACopyFromTheDevice, OverRows) {
  constexpr std::size_t kRows = 100;
  const std::size_t pitch = bytes_ / kRows;
  copy_over(1, [&] {
    HIP_OK(hipMemcpy2DAsync(target_, pitch, ones_.get(), pitch, pitch / 2, kRows, hipMemcpyDeviceToHost,
                            stream_));
  });
}

constexpr std::size_t kCopiedOver[] = {20'000, 300'000, 4'000'000};
INSTANTIATE_TEST_SUITE_P(Sizes, CopyOverACopy, ::testing::ValuesIn(kCopiedOver));
INSTANTIATE_TEST_SUITE_P(Sizes, CopyOverACopyFromTheDevice, ::testing::ValuesIn(kCopiedOver));

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

// Memory that is not pageable belongs to the order of the stream: what stands before a copy writes its
// source, and what stands behind one reads its target.
class LentMemory : public ::testing::TestWithParam<std::size_t> {
 protected:
  static void sleep_a_little(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

  testing::AssertionResult all(const unsigned char* bytes, int value) const {
    const auto other = std::find_if(bytes, bytes + bytes_, [value](int byte) { return byte != value; });
    if (other == bytes + bytes_) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "byte " << other - bytes << " is " << int(*other);
  }
  testing::AssertionResult device_is(const DeviceBuffer& device, int value) const {
    std::vector<unsigned char> back(bytes_);
    const hipError_t copied = hipMemcpy(back.data(), device.get(), bytes_, hipMemcpyDeviceToHost);
    if (copied != hipSuccess) return testing::AssertionFailure() << hipGetErrorName(copied);
    return all(back.data(), value);
  }
  // Late, so that who comes too early sees it.
  void fill_late(hipStream_t stream, int value) {
    ASSERT_EQ(hipLaunchHostFunc(stream, &LentMemory::sleep_a_little, nullptr), hipSuccess);
    ASSERT_EQ(hipMemsetAsync(first_.get(), value, bytes_, stream), hipSuccess);
  }

  const std::size_t bytes_ = GetParam();
  DeviceBuffer first_{bytes_};
  DeviceBuffer second_{bytes_};
  PinnedBuffer pinned_{bytes_};
  unsigned char* const host_ = pinned_.as<unsigned char>();
};

TEST_P(LentMemory, GoesFromTheDeviceAndBack) {
  TestStream stream;
  for (int round = 1; round <= 5; ++round) {
    std::fill_n(host_, bytes_, static_cast<unsigned char>(0xee));
    fill_late(stream, round);
    HIP_OK(hipMemcpyAsync(host_, first_.get(), bytes_, hipMemcpyDeviceToHost, stream));
    HIP_OK(hipMemcpyAsync(second_.get(), host_, bytes_, hipMemcpyHostToDevice, stream));
    HIP_OK(hipStreamSynchronize(stream));
    ASSERT_TRUE(device_is(second_, round));
  }
}

TEST_P(LentMemory, GoesFromOneStreamToAnother) {
  TestStream down;
  TestStream up;
  TestEvent landed;
  for (int round = 1; round <= 5; ++round) {
    std::fill_n(host_, bytes_, static_cast<unsigned char>(0xee));
    fill_late(down, round);
    HIP_OK(hipMemcpyAsync(host_, first_.get(), bytes_, hipMemcpyDeviceToHost, down));
    HIP_OK(hipEventRecord(landed, down));
    HIP_OK(hipStreamWaitEvent(up, landed, 0));
    HIP_OK(hipMemcpyAsync(second_.get(), host_, bytes_, hipMemcpyHostToDevice, up));
    HIP_OK(hipStreamSynchronize(up));
    ASSERT_TRUE(all(host_, round));
    ASSERT_TRUE(device_is(second_, round));
  }
}

TEST_P(LentMemory, IsWrittenByAHostFunctionBeforeItIsCopied) {
  struct Fill {
    unsigned char* to;
    std::size_t bytes;
    int value;
  };
  TestStream stream;
  for (int round = 1; round <= 5; ++round) {
    Fill fill{host_, bytes_, round};
    std::fill_n(host_, bytes_, static_cast<unsigned char>(0xee));
    const auto late = [](void* data) {
      sleep_a_little(nullptr);
      const auto* const wish = static_cast<const Fill*>(data);
      std::fill_n(wish->to, wish->bytes, static_cast<unsigned char>(wish->value));
    };
    HIP_OK(hipLaunchHostFunc(stream, late, &fill));
    HIP_OK(hipMemcpyAsync(second_.get(), host_, bytes_, hipMemcpyHostToDevice, stream));
    HIP_OK(hipStreamSynchronize(stream));
    ASSERT_TRUE(device_is(second_, round));
  }
}

// Who has waited for a stream has waited for what that stream waited for.
TEST_P(LentMemory, IsThereWhenAStreamBehindItWasWaitedFor) {
  TestStream first;
  TestStream second;
  TestEvent event;
  for (int round = 1; round <= 10; ++round) {
    fill_late(first, round);
    HIP_OK(hipMemcpyAsync(host_, first_.get(), bytes_, hipMemcpyDeviceToHost, first));
    HIP_OK(hipEventRecord(event, first));
    HIP_OK(hipStreamWaitEvent(second, event, 0));
    HIP_OK(hipStreamSynchronize(second));
    ASSERT_TRUE(all(host_, round));
  }
}

TEST_P(LentMemory, IsThereWhenTheNullStreamWasWaitedFor) {
  TestStream blocking;
  for (int round = 1; round <= 10; ++round) {
    fill_late(blocking, round);
    HIP_OK(hipMemcpyAsync(host_, first_.get(), bytes_, hipMemcpyDeviceToHost, blocking));
    HIP_OK(hipMemsetAsync(second_.get(), round, 4, nullptr));
    HIP_OK(hipStreamSynchronize(nullptr));
    ASSERT_TRUE(all(host_, round));
  }
}

TEST_P(LentMemory, IsThereWhenAStreamBehindTheNullStreamWasWaitedFor) {
  TestStream blocking;
  for (int round = 1; round <= 10; ++round) {
    fill_late(nullptr, round);
    HIP_OK(hipMemcpyAsync(host_, first_.get(), bytes_, hipMemcpyDeviceToHost, nullptr));
    HIP_OK(hipMemsetAsync(second_.get(), round, 4, blocking));
    HIP_OK(hipStreamSynchronize(blocking));
    ASSERT_TRUE(all(host_, round));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LentMemory, ::testing::Values(5000, 100'000, 6'000'000));

}  // namespace
}  // namespace tf::api_test
