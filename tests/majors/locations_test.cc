// SPDX-License-Identifier: Apache-2.0
// Functions of HIP 7 that name a location: batches of ranges that are fetched or discarded, and pools.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

using Discard = hipError_t(void**, std::size_t*, std::size_t, unsigned long long, hipStream_t);
using Prefetch = hipError_t(void**, std::size_t*, std::size_t, hipMemLocation*, std::size_t*, std::size_t,
                            unsigned long long, hipStream_t);
using GetPool = hipError_t(hipMemPool_t*, hipMemLocation*, hipMemAllocationType);
using SetPool = hipError_t(hipMemLocation*, hipMemAllocationType, hipMemPool_t);

constexpr std::size_t kBytes = 1 << 16;
constexpr auto kManaged = static_cast<hipMemAllocationType>(2);
constexpr hipMemLocation kFirst{hipMemLocationTypeDevice, 0};
constexpr hipMemLocation kSecond{hipMemLocationTypeDevice, 1};
constexpr hipMemLocation kOnHost{std::bit_cast<hipMemLocationType>(kHipMemLocationTypeHost), 0};

class Locations : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
    ASSERT_EQ(get<decltype(hipStreamCreateWithFlags)>("hipStreamCreateWithFlags")(&stream_, 0), hipSuccess);
    for (void*& range : ranges_)
      ASSERT_EQ(get<hipError_t(void**, std::size_t, unsigned)>("hipMallocManaged")(&range, kBytes, 1),
                hipSuccess);
  }
  void TearDown() override {
    if (major_ < 7) return;
    for (void* const range : ranges_) EXPECT_EQ(get<hipError_t(void*)>("hipFree")(range), hipSuccess);
    EXPECT_EQ(get<hipError_t(hipStream_t)>("hipStreamDestroy")(stream_), hipSuccess);
  }
  void synchronize_stream() const {
    EXPECT_EQ(get<hipError_t(hipStream_t)>("hipStreamSynchronize")(stream_), hipSuccess);
  }

  hipStream_t stream_ = nullptr;
  std::array<void*, 3> ranges_{};
  std::array<std::size_t, 3> bytes_{kBytes, kBytes, kBytes / 2};
};

// What all batches refuse, by one call of `run`.
void expect_ranges_checked(void* range, hipStream_t stream, const std::function<Discard>& run) {
  std::array<void*, 2> ranges = {range, range};
  std::array<std::size_t, 2> bytes = {kBytes, kBytes};
  EXPECT_EQ(run(nullptr, bytes.data(), 1, 0, stream), kInvalid);
  EXPECT_EQ(run(ranges.data(), nullptr, 1, 0, stream), kInvalid);
  EXPECT_EQ(run(ranges.data(), bytes.data(), 0, 0, stream), kInvalid);
  EXPECT_EQ(run(ranges.data(), bytes.data(), 2, 1, stream), kInvalid) << "flags";
  EXPECT_EQ(run(ranges.data(), bytes.data(), 2, 0, nullptr), kInvalid) << "the null stream";
  bytes[1] = 0;
  EXPECT_EQ(run(ranges.data(), bytes.data(), 2, 0, stream), kInvalid) << "nothing of a range";
  bytes[1] = kBytes + 1;
  EXPECT_EQ(run(ranges.data(), bytes.data(), 2, 0, stream), kInvalid) << "more than there is";
  bytes[1] = kBytes;
  ranges[1] = nullptr;
  EXPECT_EQ(run(ranges.data(), bytes.data(), 2, 0, stream), kInvalid);
}

TEST_F(Locations, DiscardedRangesCanBeUsedAgain) {
  for (const char* name : {"hipMemDiscardBatchAsync", "hipDrvMemDiscardBatchAsync"}) {
    SCOPED_TRACE(name);
    const auto discard = get<Discard>(name);
    ASSERT_EQ(discard(ranges_.data(), bytes_.data(), 3, 0, stream_), hipSuccess);
    synchronize_stream();
    std::memset(ranges_[1], 0x5a, kBytes);
    EXPECT_EQ(read<unsigned char>(ranges_[1], kBytes), std::vector<unsigned char>(kBytes, 0x5a));
    expect_ranges_checked(ranges_[0], stream_, discard);
    void* ordinary = allocate(kBytes);
    EXPECT_EQ(discard(&ordinary, bytes_.data(), 1, 0, stream_), hipErrorNotSupported) << "not managed";
    std::vector<char> own(kBytes);
    ordinary = own.data();
    EXPECT_EQ(discard(&ordinary, bytes_.data(), 1, 0, stream_), hipErrorNotSupported) << "not HIP's";
  }
}

TEST_F(Locations, RangesGoWhereTheyShall) {
  const auto last = [&](void* range) {
    int device = 77;
    using Ask = hipError_t(void*, std::size_t, hipMemRangeAttribute, const void*, std::size_t);
    EXPECT_EQ(get<Ask>("hipMemRangeGetAttribute")(
                  &device, sizeof device, hipMemRangeAttributeLastPrefetchLocation, range, kBytes / 2),
              hipSuccess);
    return device;
  };
  for (const char* name : {"hipMemPrefetchBatchAsync", "hipMemDiscardAndPrefetchBatchAsync",
                           "hipDrvMemDiscardAndPrefetchBatchAsync"}) {
    SCOPED_TRACE(name);
    const auto prefetch = get<Prefetch>(name);
    std::array<hipMemLocation, 2> locations = {kSecond, kOnHost};
    std::array<std::size_t, 2> first = {0, 2};
    ASSERT_EQ(prefetch(ranges_.data(), bytes_.data(), 3, locations.data(), first.data(), 2, 0, stream_),
              hipSuccess);
    synchronize_stream();
    EXPECT_EQ((std::array{last(ranges_[0]), last(ranges_[1]), last(ranges_[2])}),
              (std::array{1, 1, hipCpuDeviceId}));
    locations[0] = kFirst;
    ASSERT_EQ(prefetch(ranges_.data(), bytes_.data(), 3, locations.data(), first.data(), 1, 0, stream_),
              hipSuccess);
    EXPECT_EQ((std::array{last(ranges_[0]), last(ranges_[1]), last(ranges_[2])}), (std::array{0, 0, 0}));
    expect_ranges_checked(ranges_[0], stream_,
                          [&](void** ranges, std::size_t* bytes, std::size_t count, unsigned long long flags,
                              hipStream_t stream) {
                            return prefetch(ranges, bytes, count, locations.data(), first.data(), 1, flags,
                                            stream);
                          });
  }
}

TEST_F(Locations, NothingOfAWrongBatchIsFetched) {
  const auto prefetch = get<Prefetch>("hipMemPrefetchBatchAsync");
  std::array<hipMemLocation, 3> locations = {kFirst, kSecond, kOnHost};
  std::array<std::size_t, 3> first = {0, 1, 2};
  const auto run = [&](std::size_t count) {
    return prefetch(ranges_.data(), bytes_.data(), 2, locations.data(), first.data(), count, 0, stream_);
  };
  EXPECT_EQ(run(2), hipSuccess);
  EXPECT_EQ(run(0), kInvalid);
  EXPECT_EQ(run(3), kInvalid) << "more locations than ranges";
  first = {1, 1, 2};
  EXPECT_EQ(run(1), kInvalid) << "the first range has no location";
  first = {0, 0, 2};
  EXPECT_EQ(run(2), kInvalid) << "not in ascending order";
  first = {0, 2, 3};
  EXPECT_EQ(run(2), kInvalid) << "no such range";
  first = {0, 1, 2};
  locations[1].id = 2;
  EXPECT_EQ(run(2), kInvalid) << "no such device";
  locations[1].id = -1;
  EXPECT_EQ(run(2), kInvalid);
  locations[1] = {static_cast<hipMemLocationType>(0), 0};
  EXPECT_EQ(run(2), kInvalid) << "no location";
  EXPECT_EQ(prefetch(ranges_.data(), bytes_.data(), 2, nullptr, first.data(), 1, 0, stream_), kInvalid);
  EXPECT_EQ(prefetch(ranges_.data(), bytes_.data(), 2, locations.data(), nullptr, 1, 0, stream_), kInvalid);
  void* ordinary = allocate(kBytes);
  EXPECT_EQ(prefetch(&ordinary, bytes_.data(), 1, locations.data(), first.data(), 1, 0, stream_), kInvalid);
}

TEST_F(Locations, ACaptureTakesNoBatch) {
  ASSERT_EQ(
      get<decltype(hipStreamBeginCapture)>("hipStreamBeginCapture")(stream_, hipStreamCaptureModeThreadLocal),
      hipSuccess);
  EXPECT_EQ(get<Discard>("hipMemDiscardBatchAsync")(ranges_.data(), bytes_.data(), 1, 0, stream_),
            hipErrorStreamCaptureUnsupported);
  hipGraph_t graph = nullptr;
  (void)get<decltype(hipStreamEndCapture)>("hipStreamEndCapture")(stream_, &graph);
  if (graph != nullptr) {
    EXPECT_EQ(get<hipError_t(hipGraph_t)>("hipGraphDestroy")(graph), hipSuccess);
  }
}

TEST_F(Locations, PoolsAreThoseOfTheDevice) {
  const auto get_pool = get<GetPool>("hipMemGetMemPool");
  const auto get_default = get<GetPool>("hipMemGetDefaultMemPool");
  const auto set_pool = get<SetPool>("hipMemSetMemPool");
  const auto pool_of = [&](const std::function<GetPool>& ask, hipMemLocation location) {
    hipMemPool_t pool = nullptr;
    EXPECT_EQ(ask(&pool, &location, hipMemAllocationTypePinned), hipSuccess);
    return pool;
  };
  hipMemPool_t expected = nullptr;
  ASSERT_EQ(get<hipError_t(hipMemPool_t*, int)>("hipDeviceGetDefaultMemPool")(&expected, 1), hipSuccess);
  EXPECT_EQ(pool_of(get_default, kSecond), expected);
  EXPECT_NE(pool_of(get_default, kFirst), expected);
  EXPECT_EQ(pool_of(get_pool, kSecond), expected);

  hipMemPoolProps wanted{};
  wanted.allocType = hipMemAllocationTypePinned;
  wanted.location = kSecond;
  hipMemPool_t own = nullptr;
  ASSERT_EQ(get<hipError_t(hipMemPool_t*, const hipMemPoolProps*)>("hipMemPoolCreate")(&own, &wanted),
            hipSuccess);
  hipMemLocation location = kSecond;
  ASSERT_EQ(set_pool(&location, hipMemAllocationTypePinned, own), hipSuccess);
  EXPECT_EQ(pool_of(get_pool, kSecond), own);
  EXPECT_EQ(pool_of(get_default, kSecond), expected);
  EXPECT_EQ(set_pool(&location, kManaged, own), kInvalid) << "another type than the pool's";
  location = kFirst;
  EXPECT_EQ(set_pool(&location, hipMemAllocationTypePinned, own), kInvalid) << "another device than its own";
  location = kSecond;
  EXPECT_EQ(set_pool(&location, hipMemAllocationTypePinned, expected), hipSuccess);
  EXPECT_EQ(get<hipError_t(hipMemPool_t)>("hipMemPoolDestroy")(own), hipSuccess);
}

TEST_F(Locations, WrongPlacesOfPoolsAreRefused) {
  hipMemPool_t pool = nullptr;
  hipMemLocation location = kFirst;
  const auto set_pool = get<SetPool>("hipMemSetMemPool");
  EXPECT_EQ(set_pool(&location, hipMemAllocationTypePinned, nullptr), kInvalid);
  EXPECT_EQ(set_pool(&location, hipMemAllocationTypePinned, reinterpret_cast<hipMemPool_t>(this)), kInvalid);
  EXPECT_EQ(set_pool(nullptr, hipMemAllocationTypePinned, nullptr), kInvalid);
  for (const char* name : {"hipMemGetMemPool", "hipMemGetDefaultMemPool"}) {
    SCOPED_TRACE(name);
    const auto get_pool = get<GetPool>(name);
    location = kFirst;
    EXPECT_EQ(get_pool(nullptr, &location, hipMemAllocationTypePinned), kInvalid);
    EXPECT_EQ(get_pool(&pool, nullptr, hipMemAllocationTypePinned), kInvalid);
    EXPECT_EQ(get_pool(&pool, &location, static_cast<hipMemAllocationType>(0)), kInvalid);
    EXPECT_EQ(get_pool(&pool, &location, kManaged), hipErrorNotSupported) << "there are none";
    location.id = 2;
    EXPECT_EQ(get_pool(&pool, &location, hipMemAllocationTypePinned), kInvalid);
    location.id = -1;
    EXPECT_EQ(get_pool(&pool, &location, hipMemAllocationTypePinned), kInvalid);
    location = kOnHost;
    EXPECT_EQ(get_pool(&pool, &location, hipMemAllocationTypePinned), kInvalid);
  }
  EXPECT_EQ(pool, nullptr);
}

}  // namespace
}  // namespace tf::majors
