// SPDX-License-Identifier: Apache-2.0
// Batches of waits and writes, numbers and attributes of streams, and devices that a thread may use.
#include <cstdint>
#include <set>
#include <thread>

#include "tests/majors/major.h"
#include "tests/majors/operations.h"

namespace tf::majors {
namespace {

using Batch = hipError_t(hipStream_t, unsigned, hipStreamBatchMemOpParams*, unsigned);

class Streams : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    if (major_ < 6) GTEST_SKIP() << "the functions are of HIP 6";
    ASSERT_EQ(
        get<hipError_t(hipStream_t*, unsigned)>("hipStreamCreateWithFlags")(&first_, hipStreamNonBlocking),
        hipSuccess);
    ASSERT_EQ(
        get<hipError_t(hipStream_t*, unsigned)>("hipStreamCreateWithFlags")(&second_, hipStreamNonBlocking),
        hipSuccess);
  }
  void TearDown() override {
    if (major_ < 6) return;
    EXPECT_EQ(destroy(first_), hipSuccess);
    EXPECT_EQ(destroy(second_), hipSuccess);
  }
  hipError_t destroy(hipStream_t stream) const {
    return get<hipError_t(hipStream_t)>("hipStreamDestroy")(stream);
  }

  hipStream_t first_ = nullptr;
  hipStream_t second_ = nullptr;
};

TEST_F(Streams, ABatchWaitsAndWritesInItsOrder) {
  auto* const words = static_cast<std::uint32_t*>(allocate(32));
  ASSERT_EQ(get<hipError_t(void*, int, std::size_t)>("hipMemset")(words, 0, 32), hipSuccess);
  const auto batch = get<Batch>("hipStreamBatchMemOp");
  hipStreamBatchMemOpParams waiting[] = {wait_for(&words[0], 1),
                                         write_to(&words[1], 2, hipStreamMemOpWriteValue32),
                                         write_to(&words[2], 1ull << 40, hipStreamMemOpWriteValue64)};
  ASSERT_EQ(batch(first_, 3, waiting, 0), hipSuccess);
  EXPECT_EQ(get<hipError_t(hipStream_t)>("hipStreamQuery")(first_), hipErrorNotReady);
  hipStreamBatchMemOpParams opening = write_to(&words[0], 1, hipStreamMemOpWriteValue32);
  ASSERT_EQ(batch(second_, 1, &opening, 0), hipSuccess);
  ASSERT_EQ(get<hipError_t(hipStream_t)>("hipStreamSynchronize")(first_), hipSuccess);
  EXPECT_EQ(read<std::uint32_t>(words, 2), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(read<std::uint64_t>(words + 2, 1), (std::vector<std::uint64_t>{1ull << 40}));
}

TEST_F(Streams, NothingOfAWrongBatchRuns) {
  auto* const word = static_cast<std::uint32_t*>(allocate(16));
  ASSERT_EQ(get<hipError_t(void*, int, std::size_t)>("hipMemset")(word, 0, 16), hipSuccess);
  const auto batch = get<Batch>("hipStreamBatchMemOp");
  const auto good = write_to(word, 7, hipStreamMemOpWriteValue32);
  for (const auto& bad :
       {write_to(nullptr, 1, hipStreamMemOpWriteValue32), write_to(word, 1, hipStreamMemOpBarrier),
        write_to(reinterpret_cast<char*>(word) + 2, 1, hipStreamMemOpWriteValue32),
        write_to(word + 1, 1, hipStreamMemOpWriteValue64), write_to(word, 1, hipStreamMemOpFlushRemoteWrites),
        wait_for(word, 1, hipStreamWaitValueNor + 1)}) {
    hipStreamBatchMemOpParams both[] = {good, bad};
    EXPECT_EQ(batch(first_, 2, both, 0), kInvalid) << bad.operation;
  }
  hipStreamBatchMemOpParams one = good;
  EXPECT_EQ(batch(first_, 1, &one, 1), kInvalid) << "flags";
  EXPECT_EQ(batch(first_, 0, &one, 0), kInvalid);
  EXPECT_EQ(batch(first_, 257, &one, 0), kInvalid);
  EXPECT_EQ(batch(first_, 1, nullptr, 0), kInvalid);
  synchronize();
  EXPECT_EQ(read<std::uint32_t>(word, 1), (std::vector<std::uint32_t>{0}));
}

TEST_F(Streams, EachHasANumber) {
  if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
  const auto get_id = get<hipError_t(hipStream_t, unsigned long long*)>("hipStreamGetId");
  const auto id = [&](hipStream_t stream) {
    unsigned long long number = 0;
    EXPECT_EQ(get_id(stream, &number), hipSuccess);
    return number;
  };
  std::set<unsigned long long> all{id(first_), id(second_), id(nullptr), id(hipStreamPerThread)};
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(id(first_), id(first_));
  EXPECT_EQ(id(nullptr), id(nullptr));
  std::thread([&] { EXPECT_FALSE(all.contains(id(hipStreamPerThread))); }).join();
  EXPECT_EQ(get_id(first_, nullptr), kInvalid);
}

TEST_F(Streams, ThePolicyOfWaitingIsKept) {
  if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
  const auto set = get<hipError_t(hipStream_t, int, const hipLaunchAttributeValue*)>("hipStreamSetAttribute");
  const auto ask = get<hipError_t(hipStream_t, int, hipLaunchAttributeValue*)>("hipStreamGetAttribute");
  const auto copy = get<hipError_t(hipStream_t, hipStream_t)>("hipStreamCopyAttributes");
  const auto policy = [&](hipStream_t stream) {
    hipLaunchAttributeValue value{};
    EXPECT_EQ(ask(stream, hipLaunchAttributeSynchronizationPolicy, &value), hipSuccess);
    return value.syncPolicy;
  };
  EXPECT_EQ(policy(first_), hipSyncPolicyAuto);
  hipLaunchAttributeValue value{};
  value.syncPolicy = hipSyncPolicyYield;
  ASSERT_EQ(set(first_, hipLaunchAttributeSynchronizationPolicy, &value), hipSuccess);
  EXPECT_EQ(policy(first_), hipSyncPolicyYield);
  EXPECT_EQ(policy(second_), hipSyncPolicyAuto);
  ASSERT_EQ(copy(second_, first_), hipSuccess);
  EXPECT_EQ(policy(second_), hipSyncPolicyYield);
  int priority = 17;
  ASSERT_EQ(get<hipError_t(hipStream_t, int*)>("hipStreamGetPriority")(first_, &priority), hipSuccess);
  ASSERT_EQ(ask(first_, hipLaunchAttributePriority, &value), hipSuccess);
  EXPECT_EQ(value.priority, priority);
  EXPECT_EQ(ask(first_, hipLaunchAttributeCooperative, &value), kInvalid);
  EXPECT_EQ(ask(first_, hipLaunchAttributePriority, nullptr), kInvalid);
  EXPECT_EQ(set(first_, hipLaunchAttributePriority, &value), kInvalid);
  value.priority = 9;  // the same bytes
  EXPECT_EQ(set(first_, hipLaunchAttributeSynchronizationPolicy, &value), kInvalid);
}

TEST_F(Streams, TheFirstValidDeviceIsTakenByAThreadThatChoseNone) {
  int count = 0;
  ASSERT_EQ(get<hipError_t(int*)>("hipGetDeviceCount")(&count), hipSuccess);
  const auto set_valid = get<hipError_t(int*, int)>("hipSetValidDevices");
  ASSERT_GT(count, 1);
  const int last = count - 1;
  std::thread([&] {
    int devices[] = {last, count}, device = -1;
    EXPECT_EQ(set_valid(devices, 0), hipSuccess);
    EXPECT_EQ(set_valid(nullptr, 1), kInvalid);
    EXPECT_EQ(set_valid(devices, -1), kInvalid);
    EXPECT_EQ(set_valid(devices, count + 1), kInvalid);
    EXPECT_EQ(set_valid(devices + 1, 1), hipErrorInvalidDevice);
    EXPECT_EQ(set_valid(devices, 1), hipSuccess);
    EXPECT_EQ(get<hipError_t(int*)>("hipGetDevice")(&device), hipSuccess);
    EXPECT_EQ(device, last);
    EXPECT_EQ(get<hipError_t(int)>("hipSetDevice")(0), hipSuccess);
    EXPECT_EQ(set_valid(devices, 1), hipSuccess);
    EXPECT_EQ(get<hipError_t(int*)>("hipGetDevice")(&device), hipSuccess);
    EXPECT_EQ(device, 0) << "the thread has chosen";
  }).join();
}

TEST_F(Streams, WhatOneDimensionOfATextureHolds) {
  const auto describe =
      get<hipChannelFormatDesc(int, int, int, int, hipChannelFormatKind)>("hipCreateChannelDesc");
  const hipChannelFormatDesc channels = describe(32, 16, 8, 0, hipChannelFormatKindFloat);
  EXPECT_EQ(channels.x, 32);
  EXPECT_EQ(channels.y, 16);
  EXPECT_EQ(channels.z, 8);
  EXPECT_EQ(channels.w, 0);
  EXPECT_EQ(channels.f, hipChannelFormatKindFloat);
  if (major_ < 7) return;
  using Width = hipError_t(std::size_t*, const hipChannelFormatDesc*, int);
  const auto width_of = get<Width>("hipDeviceGetTexture1DLinearMaxWidth");
  std::size_t width = 0;
  ASSERT_EQ(width_of(&width, &channels, 0), hipSuccess);
  int limit = 0;
  ASSERT_EQ(get<hipError_t(int*, int, int)>("hipDeviceGetAttribute")(&limit,
                                                                     hipDeviceAttributeMaxTexture1DLinear, 0),
            hipSuccess);
  EXPECT_EQ(width, static_cast<std::size_t>(limit) / 7) << "elements of 7 bytes";
  EXPECT_GT(width, 0u);
  const hipChannelFormatDesc none{};
  EXPECT_EQ(width_of(&width, &none, 0), kInvalid);
  EXPECT_EQ(width_of(nullptr, &channels, 0), kInvalid);
  EXPECT_EQ(width_of(&width, &channels, 99), hipErrorInvalidDevice);
}

}  // namespace
}  // namespace tf::majors
