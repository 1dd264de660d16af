// SPDX-License-Identifier: Apache-2.0
// Execution contexts of HIP 7.14: splits of a device's multiprocessors, contexts of them, and their streams.
#include <array>
#include <cstdint>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

using GetResource = hipError_t(hipDevice_t, hipDevResource*, hipDevResourceType);
using SplitByCount = hipError_t(hipDevResource*, unsigned*, const hipDevResource*, hipDevResource*, unsigned,
                                unsigned);
using Split = hipError_t(hipDevResource*, unsigned, const hipDevResource*, hipDevResource*, unsigned,
                         hipDevSmResourceGroupParams*);
using Describe = hipError_t(hipDevResourceDesc_t*, hipDevResource*, unsigned);
using Create = hipError_t(hipExecutionCtx_t*, hipDevResourceDesc_t, int, unsigned);
using CreateStream = hipError_t(hipStream_t*, hipExecutionCtx_t, unsigned, int);
using OfContext = hipError_t(hipExecutionCtx_t, hipDevResource*, hipDevResourceType);
using OfStream = hipError_t(hipStream_t, hipDevResource*, hipDevResourceType);
using WithEvent = hipError_t(hipExecutionCtx_t, hipEvent_t);

constexpr auto kSm = hipDevResourceTypeSm;

class Contexts : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
    ASSERT_EQ(get<GetResource>("hipDeviceGetDevResource")(0, &whole_, kSm), hipSuccess);
  }
  hipDevResourceDesc_t describe(std::vector<hipDevResource> resources) const {
    hipDevResourceDesc_t descriptor = nullptr;
    EXPECT_EQ(get<Describe>("hipDevResourceGenerateDesc")(&descriptor, resources.data(),
                                                          static_cast<unsigned>(resources.size())),
              hipSuccess);
    return descriptor;
  }
  hipExecutionCtx_t context(const std::vector<hipDevResource>& resources, int device = 0) const {
    hipExecutionCtx_t made = nullptr;
    EXPECT_EQ(get<Create>("hipGreenCtxCreate")(&made, describe(resources), device, 0), hipSuccess);
    return made;
  }
  hipStream_t stream(hipExecutionCtx_t of, unsigned flags = hipStreamNonBlocking, int priority = 0) const {
    hipStream_t made = nullptr;
    EXPECT_EQ(get<CreateStream>("hipExecutionCtxStreamCreate")(&made, of, flags, priority), hipSuccess);
    return made;
  }
  void destroy(hipStream_t stream) const {
    EXPECT_EQ(get<hipError_t(hipStream_t)>("hipStreamDestroy")(stream), hipSuccess);
  }
  hipError_t destroy(hipExecutionCtx_t context) const {
    return get<hipError_t(hipExecutionCtx_t)>("hipExecutionCtxDestroy")(context);
  }
  // One multiprocessor for each of two, and what is left.
  std::vector<hipDevResource> two(hipDevResource* rest = nullptr) const {
    std::vector<hipDevResource> parts(2);
    unsigned groups = 2;
    EXPECT_EQ(get<SplitByCount>("hipDevSmResourceSplitByCount")(parts.data(), &groups, &whole_, rest, 0, 1),
              hipSuccess);
    EXPECT_EQ(groups, 2u) << "of a device with two multiprocessors at least";
    return parts;
  }
  std::uint32_t mask_of(hipStream_t stream) const {
    std::array<std::uint32_t, 64> mask{};
    EXPECT_EQ((get<hipError_t(hipStream_t, std::uint32_t, std::uint32_t*)>("hipExtStreamGetCUMask")(
                  stream, 64, mask.data())),
              hipSuccess);
    return mask[0];
  }

  hipDevResource whole_{};
};

TEST_F(Contexts, ADeviceHasItsMultiprocessors) {
  int count = 0;
  ASSERT_EQ((get<hipError_t(int*, int, int)>("hipDeviceGetAttribute")(
                &count, hipDeviceAttributeMultiprocessorCount, 0)),
            hipSuccess);
  EXPECT_EQ(whole_.type, kSm);
  EXPECT_EQ(whole_.sm.smCount, static_cast<unsigned>(count));
  EXPECT_EQ(whole_.sm.smCoscheduledAlignment, 1u);
  EXPECT_EQ(whole_.nextResource, nullptr);
  const auto of_device = get<GetResource>("hipDeviceGetDevResource");
  hipDevResource resource{};
  EXPECT_EQ(of_device(0, nullptr, kSm), kInvalid);
  EXPECT_EQ(of_device(2, &resource, kSm), hipErrorInvalidDevice);
  EXPECT_EQ(of_device(-1, &resource, kSm), hipErrorInvalidDevice);
  EXPECT_EQ(of_device(0, &resource, hipDevResourceTypeWorkqueue), hipErrorInvalidResourceType);
  EXPECT_EQ(resource.type, hipDevResourceTypeInvalid);
  EXPECT_STREQ(get<const char*(hipError_t)>("hipGetErrorName")(hipErrorInvalidResourceType),
               "hipErrorInvalidResourceType");
}

TEST_F(Contexts, GroupsOfOneSizeAndTheRest) {
  const auto split = get<SplitByCount>("hipDevSmResourceSplitByCount");
  unsigned groups = 0;
  ASSERT_EQ(split(nullptr, &groups, &whole_, nullptr, 0, 1), hipSuccess);
  EXPECT_EQ(groups, whole_.sm.smCount);
  hipDevResource part{}, rest{};
  groups = 1;
  ASSERT_EQ(split(&part, &groups, &whole_, &rest, 0, whole_.sm.smCount - 1), hipSuccess);
  EXPECT_EQ(part.sm.smCount, whole_.sm.smCount - 1);
  EXPECT_EQ(rest.sm.smCount, 1u);
  groups = 5;
  ASSERT_EQ(split(&part, &groups, &rest, &rest, 0, 0), hipSuccess) << "in place";
  EXPECT_EQ(groups, 1u) << "no more than there are";
  EXPECT_EQ(part.sm.smCount, 1u);
  EXPECT_EQ(rest.type, hipDevResourceTypeInvalid) << "nothing is left";
  EXPECT_EQ(split(&part, nullptr, &whole_, nullptr, 0, 1), kInvalid);
  EXPECT_EQ(split(&part, &groups, nullptr, nullptr, 0, 1), kInvalid);
  EXPECT_EQ(split(&part, &groups, &rest, nullptr, 0, 1), hipErrorInvalidResourceType);
  EXPECT_EQ(split(&part, &groups, &whole_, nullptr, hipDevSmResourceSplitIgnoreSmCoscheduling, 1),
            hipErrorNotSupported);
  ASSERT_EQ(split(nullptr, &groups, &whole_, nullptr, 0, ~0u), hipSuccess);
  EXPECT_EQ(groups, 0u) << "no group is so large";
  hipDevResource more = whole_;
  ++more.sm.smCount;
  EXPECT_EQ(split(&part, &groups, &more, nullptr, 0, 1), hipErrorInvalidResourceConfiguration);
}

TEST_F(Contexts, GroupsOfTheirOwnSizes) {
  const auto split = get<Split>("hipDevSmResourceSplit");
  std::array<hipDevSmResourceGroupParams, 2> groups{};
  groups[0].smCount = 1;
  std::array<hipDevResource, 2> parts{};
  hipDevResource rest = whole_;
  ASSERT_EQ(split(parts.data(), 2, &whole_, &rest, 0, groups.data()), hipSuccess);
  EXPECT_EQ(parts[0].sm.smCount, 1u);
  EXPECT_EQ(parts[1].sm.smCount, whole_.sm.smCount - 1) << "all that is left";
  EXPECT_EQ(groups[1].smCount, whole_.sm.smCount - 1) << "which the program is told";
  EXPECT_EQ(groups[1].coscheduledSmCount, 1u);
  EXPECT_EQ(rest.type, hipDevResourceTypeInvalid);
  groups[0].smCount = groups[1].smCount = whole_.sm.smCount;
  EXPECT_EQ(split(parts.data(), 2, &whole_, nullptr, 0, groups.data()), hipErrorInvalidResourceConfiguration);
  groups[0] = {};
  groups[0].smCount = 1;
  groups[0].coscheduledSmCount = 2;
  EXPECT_EQ(split(parts.data(), 1, &whole_, nullptr, 0, groups.data()), hipErrorInvalidResourceConfiguration);
  EXPECT_EQ(split(parts.data(), 1, &whole_, nullptr, 1, groups.data()), kInvalid) << "flags";
  EXPECT_EQ(split(parts.data(), 1, nullptr, nullptr, 0, groups.data()), kInvalid);
  EXPECT_EQ(split(parts.data(), 1, &whole_, nullptr, 0, nullptr), kInvalid);
  EXPECT_EQ(split(parts.data(), 1, &rest, nullptr, 0, groups.data()), hipErrorInvalidResourceType);
}

TEST_F(Contexts, OnlyWhatBelongsTogetherIsDescribed) {
  const auto generate = get<Describe>("hipDevResourceGenerateDesc");
  std::vector<hipDevResource> parts = two();
  hipDevResourceDesc_t descriptor = nullptr;
  EXPECT_EQ(generate(&descriptor, parts.data(), 2), hipSuccess);
  EXPECT_EQ(generate(nullptr, parts.data(), 1), kInvalid);
  EXPECT_EQ(generate(&descriptor, nullptr, 1), kInvalid);
  EXPECT_EQ(generate(&descriptor, parts.data(), 0), kInvalid);
  std::vector<hipDevResource> mixed = {parts[0], two()[1]};
  EXPECT_EQ(generate(&descriptor, mixed.data(), 2), hipErrorInvalidResourceConfiguration) << "of two splits";
  ASSERT_EQ(get<GetResource>("hipDeviceGetDevResource")(1, &mixed[1], kSm), hipSuccess);
  EXPECT_EQ(generate(&descriptor, mixed.data(), 2), hipErrorInvalidResourceConfiguration) << "two devices";
  parts[1].sm.smCount = 0;
  EXPECT_EQ(generate(&descriptor, parts.data(), 2), hipErrorInvalidResourceConfiguration);
  parts[1].type = hipDevResourceTypeWorkqueueConfig;
  EXPECT_EQ(generate(&descriptor, parts.data(), 2), hipErrorInvalidResourceType);
}

TEST_F(Contexts, StreamsHaveTheMultiprocessorsOfTheirContext) {
  const std::vector<hipDevResource> parts = two();
  const hipExecutionCtx_t first = context({parts[0]}), second = context({parts[1]}), both = context(parts);
  const hipStream_t in_first = stream(first), in_second = stream(second, hipStreamDefault, -1);
  const hipStream_t in_both = stream(both);
  EXPECT_EQ(mask_of(in_first), 1u);
  EXPECT_EQ(mask_of(in_second), 2u);
  EXPECT_EQ(mask_of(in_both), 3u);
  const auto of_stream = get<OfStream>("hipStreamGetDevResource");
  hipDevResource found{};
  ASSERT_EQ(of_stream(in_second, &found, kSm), hipSuccess);
  EXPECT_EQ(found.sm.smCount, 1u);
  ASSERT_EQ(of_stream(nullptr, &found, kSm), hipSuccess);
  EXPECT_EQ(found.sm.smCount, whole_.sm.smCount);
  EXPECT_EQ(of_stream(in_first, nullptr, kSm), kInvalid);
  EXPECT_EQ(of_stream(in_first, &found, hipDevResourceTypeWorkqueue), hipErrorInvalidResourceType);
  unsigned flags = 77;
  int priority = 77;
  EXPECT_EQ(get<decltype(hipStreamGetFlags)>("hipStreamGetFlags")(in_first, &flags), hipSuccess);
  EXPECT_EQ(flags, unsigned{hipStreamNonBlocking});
  EXPECT_EQ(get<decltype(hipStreamGetPriority)>("hipStreamGetPriority")(in_second, &priority), hipSuccess);
  EXPECT_EQ(priority, -1);
  for (const hipExecutionCtx_t each : {first, second, both}) EXPECT_EQ(destroy(each), hipSuccess);
  for (const hipStream_t each : {in_first, in_second, in_both}) destroy(each);
  EXPECT_EQ(of_stream(in_first, &found, kSm), hipErrorInvalidHandle);
}

TEST_F(Contexts, SayWhatTheyAre) {
  std::vector<hipDevResource> parts = two();
  const hipExecutionCtx_t both = context(parts), other = context({parts[0]});
  std::array<hipDevResource, 2> found{};
  const auto of_context = get<OfContext>("hipExecutionCtxGetDevResource");
  ASSERT_EQ(of_context(both, found.data(), kSm), hipSuccess);
  EXPECT_EQ(found[0].sm.smCount, 1u);
  EXPECT_EQ(found[0].nextResource, &found[1]);
  EXPECT_EQ(found[1].nextResource, nullptr);
  EXPECT_EQ(of_context(both, nullptr, kSm), kInvalid);
  EXPECT_EQ(of_context(nullptr, found.data(), kSm), kInvalid);
  EXPECT_EQ(of_context(both, found.data(), hipDevResourceTypeWorkqueue), hipErrorInvalidResourceType);
  const auto device_of = get<hipError_t(int*, hipExecutionCtx_t)>("hipExecutionCtxGetDevice");
  int device = 77;
  EXPECT_EQ(device_of(&device, both), hipSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(device_of(nullptr, both), kInvalid);
  EXPECT_EQ(device_of(&device, nullptr), kInvalid);
  const auto id_of = get<hipError_t(hipExecutionCtx_t, unsigned long long*)>("hipExecutionCtxGetId");
  unsigned long long first = 0, second = 0;
  EXPECT_EQ(id_of(both, &first), hipSuccess);
  EXPECT_EQ(id_of(other, &second), hipSuccess);
  EXPECT_NE(first, second);
  EXPECT_EQ(id_of(both, nullptr), kInvalid);
  EXPECT_EQ(destroy(other), hipSuccess);
  EXPECT_EQ(destroy(other), hipErrorInvalidHandle);
  EXPECT_EQ(id_of(other, &second), hipErrorInvalidHandle);
  EXPECT_EQ(destroy(both), hipSuccess);
  EXPECT_EQ(destroy(hipExecutionCtx_t{}), kInvalid);
}

TEST_F(Contexts, AWholeDeviceHasOne) {
  const auto primary = get<hipError_t(hipExecutionCtx_t*, int)>("hipDeviceGetExecutionCtx");
  hipExecutionCtx_t first = nullptr, again = nullptr, other = nullptr;
  ASSERT_EQ(primary(&first, 0), hipSuccess);
  ASSERT_EQ(primary(&again, 0), hipSuccess);
  ASSERT_EQ(primary(&other, 1), hipSuccess);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  hipDevResource found{};
  ASSERT_EQ(get<OfContext>("hipExecutionCtxGetDevResource")(first, &found, kSm), hipSuccess);
  EXPECT_EQ(found.sm.smCount, whole_.sm.smCount);
  const hipStream_t on_second = stream(other);
  hipDevice_t device = 77;
  EXPECT_EQ((get<hipError_t(hipStream_t, hipDevice_t*)>("hipStreamGetDevice")(on_second, &device)),
            hipSuccess);
  EXPECT_EQ(device, 1);
  destroy(on_second);
  EXPECT_EQ(destroy(first), kInvalid) << "it is the device's own";
  EXPECT_EQ(primary(nullptr, 0), kInvalid);
  EXPECT_EQ(primary(&first, 2), hipErrorInvalidDevice);
}

TEST_F(Contexts, EventsAreThoseOfAllStreams) {
  (void)get<hipError_t()>("hipGetLastError")();
  const hipExecutionCtx_t made = context(two());
  const auto record = get<WithEvent>("hipExecutionCtxRecordEvent");
  const auto wait = get<WithEvent>("hipExecutionCtxWaitEvent");
  hipEvent_t event = nullptr;
  ASSERT_EQ(get<hipError_t(hipEvent_t*)>("hipEventCreate")(&event), hipSuccess);
  EXPECT_EQ(record(made, event), hipSuccess) << "there is no stream yet";
  const hipStream_t first = stream(made), second = stream(made), gone = stream(made);
  destroy(gone);
  auto* const words = static_cast<std::uint32_t*>(allocate(64));
  ASSERT_EQ(get<hipError_t(void*, int, std::size_t)>("hipMemset")(words, 0, 64), hipSuccess);
  const auto wait_word = get<decltype(hipStreamWaitValue32)>("hipStreamWaitValue32");
  const auto write_word = get<decltype(hipStreamWriteValue32)>("hipStreamWriteValue32");
  const auto query = get<hipError_t(hipEvent_t)>("hipEventQuery");
  ASSERT_EQ(wait_word(second, words, 1, hipStreamWaitValueEq, ~0u), hipSuccess);
  ASSERT_EQ(record(made, event), hipSuccess);
  EXPECT_EQ(query(event), hipErrorNotReady) << "the second stream waits";
  const hipExecutionCtx_t after = context({two()[0]});
  const hipStream_t following = stream(after);
  ASSERT_EQ(wait(after, event), hipSuccess);
  ASSERT_EQ(write_word(following, words + 1, 5, 0), hipSuccess);
  EXPECT_EQ(get<hipError_t(hipStream_t)>("hipStreamQuery")(following), hipErrorNotReady);
  hipStream_t opening = nullptr;
  ASSERT_EQ(
      get<decltype(hipStreamCreateWithFlags)>("hipStreamCreateWithFlags")(&opening, hipStreamNonBlocking),
      hipSuccess);
  ASSERT_EQ(write_word(opening, words, 1, 0), hipSuccess);
  ASSERT_EQ(get<hipError_t(hipExecutionCtx_t)>("hipExecutionCtxSynchronize")(after), hipSuccess);
  EXPECT_EQ(query(event), hipSuccess);
  EXPECT_EQ(read<std::uint32_t>(words, 2), (std::vector<std::uint32_t>{1, 5}));
  EXPECT_EQ(get<hipError_t()>("hipPeekAtLastError")(), hipSuccess) << "a destroyed stream is no error";
  EXPECT_EQ(record(made, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(wait(made, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(record(nullptr, event), kInvalid);
  EXPECT_EQ(get<hipError_t(hipExecutionCtx_t)>("hipExecutionCtxSynchronize")(nullptr), kInvalid);
  for (const hipStream_t each : {first, second, following, opening}) destroy(each);
  for (const hipExecutionCtx_t each : {made, after}) EXPECT_EQ(destroy(each), hipSuccess);
  EXPECT_EQ(get<hipError_t(hipEvent_t)>("hipEventDestroy")(event), hipSuccess);
}

TEST_F(Contexts, WrongWishesAreRefused) {
  const hipDevResourceDesc_t descriptor = describe(two());
  const auto create = get<Create>("hipGreenCtxCreate");
  hipExecutionCtx_t made = nullptr;
  EXPECT_EQ(create(nullptr, descriptor, 0, 0), kInvalid);
  EXPECT_EQ(create(&made, nullptr, 0, 0), kInvalid);
  EXPECT_EQ(create(&made, reinterpret_cast<hipDevResourceDesc_t>(this), 0, 0), kInvalid);
  EXPECT_EQ(create(&made, descriptor, 0, 1), kInvalid) << "flags";
  EXPECT_EQ(create(&made, descriptor, 2, 0), hipErrorInvalidDevice);
  EXPECT_EQ(create(&made, descriptor, 1, 0), hipErrorInvalidDevice) << "another device's";
  ASSERT_EQ(create(&made, descriptor, 0, 0), hipSuccess);
  const auto create_stream = get<CreateStream>("hipExecutionCtxStreamCreate");
  hipStream_t none = nullptr;
  EXPECT_EQ(create_stream(nullptr, made, 0, 0), kInvalid);
  EXPECT_EQ(create_stream(&none, nullptr, 0, 0), kInvalid);
  EXPECT_EQ(create_stream(&none, made, 2, 0), kInvalid) << "flags";
  EXPECT_EQ(destroy(made), hipSuccess);
}

}  // namespace
}  // namespace tf::majors
