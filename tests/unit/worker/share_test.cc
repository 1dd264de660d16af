// SPDX-License-Identifier: Apache-2.0
// A session with limits: what its requests are answered with, and what it gives back.
#include "worker/base/share.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "session_rig.h"

namespace tf::worker {
namespace {

using protocol::Handle;
using protocol::HandleKind;

std::unique_ptr<Share> limited(const char* words) {
  return std::make_unique<Share>(Limits::parse(words).value().values(), hipcore::DeviceLimits{},
                                 TenantPage::alone());
}

std::uint64_t stream(std::uint32_t number) { return Handle(HandleKind::kStream, 1, number).raw(); }

protocol::StreamCreateWithFlagsRequest creation(std::uint64_t raw) {
  protocol::StreamCreateWithFlagsRequest request{};
  request.stream = raw;
  request.flags = hipStreamNonBlocking;
  return request;
}

TEST(LimitedSession, MakesNoMoreStreamsThanItsTenantMayHave) {
  const auto share = limited("streams=2");
  SessionRig rig(kFakeRuntime, make_loopback_pair(), {}, share.get());
  rig.start();
  EXPECT_EQ(rig.call(creation(stream(1))), hipSuccess);
  EXPECT_EQ(rig.call(creation(stream(1))), hipErrorInvalidHandle) << "taken";
  EXPECT_EQ(rig.call(creation(stream(2))), hipSuccess);
  EXPECT_EQ(rig.call(creation(stream(3))), hipErrorOutOfMemory);
  rig.post(protocol::DestroyStreamRequest{stream(1)});
  EXPECT_EQ(rig.call(creation(stream(3))), hipSuccess);
  EXPECT_EQ(share->text(), "at most 2 streams; refused: streams 1 times");
}

TEST(LimitedSession, LeasesNoMoreMemoryThanItsTenantMayHave) {
  const auto share = limited("memory=8M");
  SessionRig rig(kFakeRuntime, make_loopback_pair(), {}, share.get());
  rig.start();
  const std::uint64_t first = rig.lease(6 << 20);
  protocol::LeaseMemoryRequest more{};
  more.bytes = 4 << 20;
  EXPECT_EQ(rig.call(more), hipErrorOutOfMemory);
  EXPECT_EQ(share->used_here(memory_of(0)), 6u << 20);
  rig.post(protocol::ReturnLeaseRequest{first});
  EXPECT_EQ(rig.call(more), hipSuccess);
}

TEST(LimitedSession, HasTheLesserLimitOfTenantAndDevice) {
  hipcore::DeviceLimits devices{};
  devices[0] = {hipcore::device_number("GPU-00000000000000AB"), 4 << 20};
  devices[1] = {hipcore::device_number("GPU-00000000000000CD"), 16 << 20};
  Share share(Limits::parse("memory=8M").value().values(), devices, TenantPage::alone());
  share.name_device(0, "gpu-00000000000000ab");
  share.name_device(1, "GPU-00000000000000CD");
  share.name_device(2, "GPU-00000000000000EF");
  EXPECT_EQ(share.memory_limit(0), 4u << 20);
  EXPECT_EQ(share.memory_limit(1), 8u << 20);
  EXPECT_EQ(share.memory_limit(2), 8u << 20) << "the manager says nothing of it";
  Share only(LimitValues{}, devices, TenantPage::alone());
  only.name_device(1, "GPU-00000000000000CD");
  EXPECT_EQ(only.memory_limit(1), 16u << 20);
  EXPECT_EQ(only.memory_limit(2), 0u) << "no limit";
}

TEST(LimitedSession, OpensNoMoreHostMemoryThanItsTenantMayHave) {
  const auto share = limited("host=8M");
  SessionRig rig(kFakeRuntime, make_loopback_pair(), {}, share.get());
  const std::uint64_t base = rig.snapshot().host_window.base;
  ASSERT_NE(base, 0u);
  rig.start();
  protocol::OpenHostPartRequest part{};
  part.address = base;
  part.bytes = 8 << 20;
  EXPECT_EQ(rig.call(part), hipSuccess);
  part.address = base + (16 << 20);
  part.bytes = protocol::kHostPartBytes;
  EXPECT_EQ(rig.call(part), hipErrorOutOfMemory);
  rig.post(protocol::CloseHostPartRequest{base});
  EXPECT_EQ(rig.call(part), hipSuccess);
}

TEST(LimitedSession, EndsWhenItHasBeenIdle) {
  const auto share = limited("idle=1");
  SessionRig rig(kFakeRuntime, make_loopback_pair(), {}, share.get());
  rig.start();
  const Status ended = rig.wait_end();
  EXPECT_EQ(ended.code(), Code::kClosed);
  EXPECT_EQ(ended.message(), "no call for 1 s (the limit idle)");
  EXPECT_NE(share->text().find("refused: idle 1 times"), std::string::npos) << share->text();
}

}  // namespace
}  // namespace tf::worker
