// SPDX-License-Identifier: Apache-2.0
// What a session tells a client that traces: of fills and copies on the CPU runtime, whose times are real.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/worker/session_rig.h"
#include "worker/base/executions.h"

namespace tf::worker {
namespace {

class ExecutionsTest : public testing::Test {
 protected:
  void begin() {
    rig_.start();
    memory_ = rig_.lease(4 << 20);
    EXPECT_EQ(rig_.call(protocol::TraceExecutionsRequest{}), hipSuccess);
  }
  // Posted, with the stream's order.
  void fill(std::uint64_t bytes, std::uint64_t stream = 0) {
    protocol::FillRequest request{};
    request.target = memory_;
    request.width = bytes;
    request.stream = stream;
    rig_.post(request);
  }
  protocol::FetchExecutionsReply fetch() {
    EXPECT_EQ(rig_.call(protocol::FetchExecutionsRequest{}), hipSuccess);
    return rig_.reply_body<protocol::FetchExecutionsReply>();
  }

  SessionRig rig_{TF_CPU_RUNTIME};
  std::uint64_t memory_ = 0;
};

TEST_F(ExecutionsTest, NothingIsNotedForWhoDoesNotTrace) {
  rig_.start();
  memory_ = rig_.lease(4 << 20);
  fill(4096);
  EXPECT_EQ(rig_.synchronize(0), hipSuccess);
  EXPECT_EQ(rig_.call(protocol::FetchExecutionsRequest{}), hipErrorInvalidValue);
  EXPECT_TRUE(rig_.executions().empty());
}

TEST_F(ExecutionsTest, EachIsTheRequestsAndLiesBetweenItsPostAndTheWait) {
  const std::uint64_t stream = rig_.add_stream();
  begin();
  const std::uint64_t before = Executions::now_ns();
  for (int i = 0; i < 3; ++i) fill(1 << 20, stream);
  EXPECT_EQ(rig_.synchronize(stream), hipSuccess);
  const std::uint64_t after = Executions::now_ns();
  const protocol::FetchExecutionsReply reply = fetch();
  EXPECT_EQ(reply.left_out, 0u);
  EXPECT_EQ(reply.unfinished, 0u);
  EXPECT_EQ(reply.more, 0u);
  EXPECT_GT(reply.error_ns, 0u);
  const std::vector<protocol::Execution> all = rig_.executions();
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].opcode, static_cast<std::uint16_t>(protocol::FillRequest::kOp));
    EXPECT_EQ(all[i].stream, stream);
    EXPECT_EQ(all[i].subject, 1u << 20);
    EXPECT_EQ(all[i].device, 0u);
    EXPECT_EQ(all[i].request_id, all[0].request_id + i);
    EXPECT_GE(all[i].begin_ns + reply.error_ns, before);
    EXPECT_GE(all[i].end_ns, all[i].begin_ns);
    EXPECT_LE(all[i].end_ns, after + reply.error_ns);
  }
  EXPECT_TRUE(fetch().more == 0 && rig_.executions().size() == 3);
}

TEST_F(ExecutionsTest, MemoryIsLimitedAndWhatFindsNoRoomIsCounted) {
  begin();
  constexpr std::uint64_t kMore = 1000;
  for (std::uint64_t i = 0; i < kExecutionsKeptMax + kMore; ++i) {
    fill(64);
    if (i % 512 == 0) {
      EXPECT_EQ(rig_.synchronize(0), hipSuccess);
    }
  }
  EXPECT_EQ(rig_.synchronize(0), hipSuccess);
  protocol::FetchExecutionsReply reply = fetch();
  EXPECT_EQ(rig_.executions().size(), protocol::kExecutionsInNotice);
  while (reply.more != 0) reply = fetch();
  EXPECT_EQ(reply.unfinished, 0u);
  EXPECT_GE(reply.left_out, kMore);
  EXPECT_EQ(rig_.executions().size() + reply.left_out, kExecutionsKeptMax + kMore);
}

TEST_F(ExecutionsTest, PayloadThatMovesDirectlyIsNotedToo) {
  rig_.let_host_address_devices();
  const std::uint64_t stream = rig_.add_stream();
  begin();
  std::vector<std::byte> data(1 << 20);
  protocol::CopyToDeviceRequest request{};
  request.target = memory_;
  request.bytes = data.size();
  request.stream = stream;
  request.tag = 1;
  BulkCompletion sent;
  ASSERT_TRUE(rig_.bulk().send(1, data, sent).is_ok());
  rig_.post(request);
  ASSERT_TRUE(rig_.await(sent).is_ok());
  EXPECT_EQ(rig_.synchronize(stream), hipSuccess);
  const std::uint64_t after = Executions::now_ns();
  const protocol::FetchExecutionsReply reply = fetch();
  const std::vector<protocol::Execution> all = rig_.executions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].opcode, static_cast<std::uint16_t>(protocol::CopyToDeviceRequest::kOp));
  EXPECT_EQ(all[0].subject, data.size());
  EXPECT_LE(all[0].begin_ns, all[0].end_ns);
  EXPECT_LE(all[0].end_ns, after + reply.error_ns);
}

TEST_F(ExecutionsTest, TheClockIsTheWorkers) {
  rig_.start();
  const std::uint64_t before = Executions::now_ns();
  EXPECT_EQ(rig_.call(protocol::ReadClockRequest{}), hipSuccess);
  const std::uint64_t read = rig_.reply_body<protocol::ReadClockReply>().now_ns;
  EXPECT_GE(read, before);
  EXPECT_LE(read, Executions::now_ns());
}

}  // namespace
}  // namespace tf::worker
