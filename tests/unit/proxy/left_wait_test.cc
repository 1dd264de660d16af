// SPDX-License-Identifier: Apache-2.0
// Waits that show the program nothing: all that is left of the stream is bytes on their way to device memory.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "hipcore/abi/rules.h"
#include "proxy/copy/completion.h"
#include "proxy/copy/engine.h"
#include "tests/unit/proxy/mirror_fixture.h"

namespace tf::proxy {
namespace {

class LeftWait : public MirrorOf {
 protected:
  void SetUp() override {
    MirrorOf::SetUp();
    if (IsSkipped()) return;
    EXPECT_EQ(client_->device_memory().allocate(0, 1 << 20, device_), hipSuccess);
    stream_ = add_stream(hipStreamDefault);
  }
  std::uint64_t add_stream(unsigned flags) {
    protocol::StreamCreateWithFlagsRequest request{};
    request.stream = client_->handles().of(protocol::HandleKind::kStream).create(0)->raw();
    request.flags = flags;
    EXPECT_EQ(client_->connection().post(0, request), hipSuccess);
    EXPECT_EQ(wait(), hipSuccess) << "what could fail was heard";
    return request.stream;
  }
  void bring(std::uint64_t stream, const void* from, std::uint64_t bytes = 16) {
    const CopyMode mode{0, stream, false};
    EXPECT_EQ(copy(client_->copies(), mode, reinterpret_cast<void*>(device_), from, bytes, hipMemcpyDefault),
              hipSuccess);
  }
  void launch_on(std::uint64_t stream) {
    protocol::LaunchRequest request{};
    request.stream = stream;
    EXPECT_EQ(client_->connection().post(0, request), hipSuccess);
  }
  // All that were sent so far, and this one's own question.
  int messages() {
    protocol::FindFreeMemoryReply reply{};
    EXPECT_EQ(client_->connection().call(0, protocol::FindFreeMemoryRequest{}, reply), hipSuccess);
    return worker_->messages;
  }
  bool may_leave(std::uint64_t stream) { return may_leave_wait(client_->copies(), 0, stream); }
  CopyPlan plan_from(const Piece& memory) {
    const Box box = graph::line(device_, memory.address, memory.bytes);
    CopyPlan plan{.mode = {0, stream_, false}, .box = box, .target = device_, .source = memory.address};
    Route route;
    EXPECT_EQ(find_route(client_->copies(), box, route), hipSuccess);
    make_plan(client_->copies(), route, plan);
    return plan;
  }

  std::array<char, 16> pageable_{};
  std::uint64_t device_ = 0;
  std::uint64_t stream_ = 0;
};

TEST_P(LeftWait, CostsNoRoundTrip) {
  bring(stream_, pageable_.data());
  ASSERT_TRUE(may_leave(stream_));
  const int calls = worker_->calls;
  EXPECT_EQ(client_->connection().leave_wait(0, stream_), hipSuccess);
  EXPECT_EQ(client_->connection().synchronize_stream(0, stream_), hipSuccess);
  EXPECT_EQ(worker_->calls, calls + 1) << "the second one's";
  EXPECT_FALSE(may_leave(stream_)) << "nothing is left to wait for";
}

TEST_P(LeftWait, IsNoneOfOtherWork) {
  bring(stream_, pageable_.data());
  launch_on(stream_);
  EXPECT_FALSE(may_leave(stream_));
  bring(stream_, pageable_.data());
  EXPECT_FALSE(may_leave(stream_)) << "the kernel is still before it";
  EXPECT_EQ(client_->connection().synchronize_stream(0, stream_), hipSuccess);
  bring(stream_, pageable_.data());
  EXPECT_TRUE(may_leave(stream_));
  std::vector<char> more(1 << 20);
  bring(stream_, more.data(), more.size());
  EXPECT_FALSE(may_leave(stream_)) << "how long that takes, the program may want to know";
}

TEST_P(LeftWait, IsNoneOfWhatTheNullStreamIsDoing) {
  launch_on(0);
  bring(stream_, pageable_.data());
  EXPECT_FALSE(may_leave(stream_)) << "the copy follows the null stream's kernel";
  EXPECT_EQ(wait(), hipSuccess);
  const std::uint64_t free_one = add_stream(hipStreamNonBlocking);
  launch_on(0);
  bring(free_one, pageable_.data());
  EXPECT_TRUE(may_leave(free_one));
  EXPECT_FALSE(may_leave(0));
  EXPECT_EQ(wait(), hipSuccess);
  launch_on(stream_);
  bring(0, pageable_.data());
  EXPECT_FALSE(may_leave(0)) << "the null stream follows every other one";
  const std::uint64_t third = add_stream(hipStreamDefault);
  bring(0, pageable_.data());
  bring(third, pageable_.data());
  EXPECT_TRUE(may_leave(third));
  launch_on(stream_);
  EXPECT_FALSE(may_leave(third)) << "behind the null stream's copy, which may be behind the kernel";
}

// The null stream does not follow every stream, so a wait for it is none for them.
TEST_P(LeftWait, IsPostedForEachStream) {
  const std::uint64_t free_one = add_stream(hipStreamNonBlocking);
  bring(free_one, pageable_.data());
  const auto posts_of = [&](std::uint64_t stream) {
    EXPECT_TRUE(may_leave(stream));
    const int before = messages();
    EXPECT_EQ(client_->connection().leave_wait(0, stream), hipSuccess);
    return messages() - before - 1;
  };
  EXPECT_EQ(posts_of(0), 1);
  EXPECT_EQ(posts_of(free_one), 1);
  bring(0, pageable_.data());
  EXPECT_EQ(posts_of(stream_), abi::kRules.follows_null ? 2 : 0);
  EXPECT_EQ(posts_of(0), 1);
}

TEST_P(LeftWait, LeavesFailuresToBeHeard) {
  bring(stream_, pageable_.data());
  client_->streams().pending_work().posted();
  EXPECT_FALSE(may_leave(stream_));
}

TEST_P(LeftWait, MirroredMemoryIsReadDuringTheCall) {
  const Piece pinned = allocate(HostRange::Kind::kPinned, 4096, hipHostMallocMapped);
  EXPECT_EQ(client_->host_allocations().wake(pinned.address), hipSuccess);
  launch();
  EXPECT_EQ(plan_from({pinned.address, 64}).carrier, Carrier::kOnDevice) << "the kernel may write it";
  EXPECT_EQ(wait(), hipSuccess);
  EXPECT_EQ(plan_from({pinned.address, 64}).carrier, Carrier::kInline);
  std::memset(bytes(pinned), 7, 64);
  bring(stream_, bytes(pinned), 64);
  ASSERT_TRUE(may_leave(stream_));
  const int calls = worker_->calls;
  EXPECT_EQ(client_->connection().leave_wait(0, stream_), hipSuccess);
  EXPECT_EQ(worker_->calls, calls) << "there is nothing to bring back";
  std::memset(bytes(pinned), 8, 64);
  EXPECT_EQ(wait(), hipSuccess);
  EXPECT_EQ(*reinterpret_cast<const char*>(device_), 7) << "the fake worker's memory is this process's";
}

INSTANTIATE_TEST_SUITE_P(Pages, LeftWait, ::testing::Bool());

}  // namespace
}  // namespace tf::proxy
