// SPDX-License-Identifier: Apache-2.0
// What a runtime says of failed work reaches the client, whichever of the worker's calls it is said to: a
// runtime that says it at every call in turn, once only or from then on.
#include "worker/base/own_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "session_rig.h"

namespace tf::worker {
namespace {

constexpr hipError_t kFailure = hipErrorLaunchFailure;
constexpr int kNever = 1 << 30;

// Of the runtime: how many calls it has had, which one is the first to be told, and who that was.
struct Script {
  std::atomic<int> calls{0};
  std::atomic<int> told_at{kNever};
  std::atomic<bool> sticky{false};
  std::atomic<const char*> told{nullptr};
};
Script script;

hipError_t next_word(const char* name) {
  const int number = script.calls.fetch_add(1);
  const bool now = script.sticky ? number >= script.told_at : number == script.told_at;
  if (!now) return hipSuccess;
  const char* nobody = nullptr;
  script.told.compare_exchange_strong(nobody, name);
  return kFailure;
}

// A call that waits or destroys has done so when it tells, as with a real runtime, of which nothing then runs
// on.
template <auto kMember, bool kDoes>
struct Telling;
template <typename... Arguments, hipError_t (*protocol::HipTable::*kMember)(Arguments...), bool kDoes>
struct Telling<kMember, kDoes> {
  static inline hipError_t (*original)(Arguments...) = nullptr;
  static inline const char* name = nullptr;

  static hipError_t call(Arguments... arguments) {
    const hipError_t failure = next_word(name);
    if (failure == hipSuccess) return original(arguments...);
    if constexpr (kDoes) static_cast<void>(original(arguments...));
    return failure;
  }
  static void put(protocol::HipTable& table, const char* called) {
    name = called;
    original = table.*kMember;
    table.*kMember = &call;
  }
};

// Everything that the worker calls on its own account while a session runs, and what the program below asks
// for.
void let_tell(protocol::HipTable& hip) {
#define TF_TELL(function) Telling<&protocol::HipTable::function, false>::put(hip, #function)
#define TF_DO_AND_TELL(function) Telling<&protocol::HipTable::function, true>::put(hip, #function)
  TF_TELL(hipSetDevice);
  TF_DO_AND_TELL(hipDeviceSynchronize);
  TF_TELL(hipStreamQuery);
  TF_DO_AND_TELL(hipStreamSynchronize);
  TF_DO_AND_TELL(hipStreamDestroy);
  TF_TELL(hipStreamAddCallback);
  TF_TELL(hipEventCreateWithFlags);
  TF_DO_AND_TELL(hipEventDestroy);
  TF_TELL(hipEventRecord);
  TF_TELL(hipEventQuery);
  TF_DO_AND_TELL(hipEventSynchronize);
  TF_TELL(hipHostMalloc);
  TF_DO_AND_TELL(hipHostFree);
  TF_TELL(hipMemcpyAsync);
  TF_TELL(hipMemcpy2DAsync);
#undef TF_TELL
#undef TF_DO_AND_TELL
}

// How often the client hears of it: in replies, in faults, and from copies that are given up.
class Program {
 public:
  explicit Program(bool host_addresses) {
    script.calls = 0;
    script.told_at = kNever;
    script.told = nullptr;
    if (host_addresses) rig_.let_host_address_devices();
    let_tell(rig_.hip());
    stream_ = rig_.add_stream();
    doomed_ = rig_.add_stream();
    rig_.start();
    memory_ = rig_.lease(1 << 20);
  }
  void fail(int call, bool sticky) {
    script.sticky = sticky;
    script.told_at = script.calls + call;
  }
  int run() {
    const int before = script.calls;
    copy_in(stream_, 100000);
    copy_out(stream_, 100000);
    copy_in(0, 3000);
    post_inline();
    copy_out(0, 3000);
    rig_.post(protocol::DestroyStreamRequest{doomed_});
    count(rig_.call(protocol::SynchronizeStreamRequest{stream_}));
    count(rig_.call(protocol::SynchronizeDeviceRequest{}));
    return script.calls - before;
  }
  std::size_t heard() { return heard_ + static_cast<std::size_t>(rig_.faults().size()); }
  SessionRig& rig() { return rig_; }
  std::uint64_t stream() const { return stream_; }

 private:
  void count(hipError_t error) { heard_ += error == kFailure ? 1 : 0; }
  void count(const Status& transfer) { heard_ += transfer_error(transfer) == kFailure ? 1 : 0; }
  void copy_in(std::uint64_t stream, std::size_t bytes) {
    const std::vector<std::byte> data(bytes);
    BulkCompletion sent;
    rig_.post(protocol::CopyToDeviceRequest{memory_, bytes, stream, ++tag_});
    ASSERT_TRUE(rig_.bulk().send(tag_, data, sent).is_ok());
    ASSERT_TRUE(rig_.await(sent).is_ok());
  }
  void copy_out(std::uint64_t stream, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    BulkCompletion received;
    ASSERT_TRUE(rig_.bulk().receive(++tag_, data, received).is_ok());
    rig_.post(protocol::CopyFromDeviceRequest{memory_, bytes, stream, tag_});
    count(rig_.await(received));
  }
  void post_inline() {
    const std::vector<std::byte> data(64);
    protocol::CopyToDeviceInlineRequest request{};
    request.target = memory_;
    rig_.post(request, data);
  }

  SessionRig rig_;
  std::uint64_t memory_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t doomed_ = 0;
  std::uint64_t tag_ = 0;
  std::size_t heard_ = 0;
};

class OwnCallsTell : public testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(OwnCallsTell, WhateverARuntimeSaysOfFailedWork) {
  const auto [sticky, host_addresses] = GetParam();
  int calls = 0;
  {
    Program program(host_addresses);
    calls = program.run();
    EXPECT_EQ(program.heard(), 0u);
  }
  ASSERT_GT(calls, 10);
  for (int call = 0; call < calls; ++call) {
    Program program(host_addresses);
    program.fail(call, sticky);
    program.run();
    const char* const told = script.told;
    // How often the worker asks whether something is ready depends on time: perhaps nobody was told this
    // time.
    const std::string place = "call " + std::to_string(call) + ", " + (told != nullptr ? told : "nobody");
    EXPECT_EQ(program.heard() > 0, told != nullptr) << place;
    program.rig().end_session();  // tells nobody, and ends
  }
}

INSTANTIATE_TEST_SUITE_P(OnceOrAlways, OwnCallsTell, testing::Combine(testing::Bool(), testing::Bool()));

// The device's wait asks every stream; what one of them answers is the wait's to tell, under the stream's
// name.
TEST(OwnCalls, WhatADevicesWaitFindsItTells) {
  Program program(false);
  SessionRig& rig = program.rig();
  ASSERT_EQ(rig.call(protocol::SynchronizeDeviceRequest{}), hipSuccess);
  // hipSetDevice is not asked again; the null stream's query comes first, then those of the streams.
  program.fail(1, false);
  const hipError_t replied = rig.call(protocol::SynchronizeDeviceRequest{});
  EXPECT_STREQ(script.told, "hipStreamQuery");
  EXPECT_EQ(replied, hipSuccess) << "the fault came ahead of it";
  const std::vector<protocol::FaultNotice> faults = rig.faults();
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].error, kFailure);
  EXPECT_EQ(faults[0].failed_opcode, 0u);
  EXPECT_NE(faults[0].stream, 0u);
  EXPECT_EQ(rig.call(protocol::SynchronizeDeviceRequest{}), hipSuccess);
  EXPECT_EQ(rig.faults().size(), 1u) << "told once";
}

TEST(OwnCalls, WhatACallSaysOfItselfIsNotTold) {
  int told = 0;
  OwnCalls calls([&](hipError_t, hipStream_t, int) { ++told; });
  for (const hipError_t own : {hipSuccess, hipErrorOutOfMemory, hipErrorNotSupported, hipErrorInvalidValue,
                               hipErrorNotReady, hipErrorInvalidHandle})
    EXPECT_EQ(calls.keep(own), own);
  EXPECT_EQ(told, 0);
  EXPECT_EQ(calls.keep(hipErrorIllegalAddress), hipErrorIllegalAddress);
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(calls.is_done(hipErrorNotReady, nullptr, 0));
  EXPECT_TRUE(calls.is_done(hipSuccess, nullptr, 0));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(calls.is_done(hipErrorOutOfMemory, nullptr, 0)) << "said of the work";
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace tf::worker
