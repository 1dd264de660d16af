// SPDX-License-Identifier: Apache-2.0
// What is decided of a copy before it is made: where it goes, who makes it, and when its call may return. The
// worker of these clients shares no memory, as one of a far client.
#include "proxy/copy/plan.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

#include "proxy/client/client.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kPlanMemoryBytes = 256ull << 20;
constexpr std::uint64_t kLarge = 1 << 20;

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() : pageable_(2 * kLarge), other_(2 * kLarge), lent_(2 * kLarge) {
    auto [client, server] = make_loopback_pair();
    worker_ = std::make_unique<FakeWorker>(std::move(server), kPlanMemoryBytes);
    Connected parts;
    parts.endpoint = std::move(client);
    parts.snapshot = fake_snapshot(kPlanMemoryBytes);
    client_ = std::make_unique<Client>(std::move(parts));
    EXPECT_EQ(client_->device_memory().allocate(0, 2 * kLarge, device_), hipSuccess);
    EXPECT_EQ(client_->host_allocations().add(0, lent_.data(), lent_.size(), hipHostRegisterDefault),
              hipSuccess);
  }

  static std::uint64_t at(const std::vector<std::byte>& memory) { return to_raw(memory.data()); }
  // Rows with gaps on both sides.
  static Box rows(std::uint64_t target, std::uint64_t source) {
    return {{target, 2048, 0}, {source, 2048, 0}, 1024, kLarge / 1024, 1};
  }
  CopyPlan plan(const Box& box, bool wait) {
    CopyPlan plan{
        .mode = {0, 0, wait}, .box = box, .target = box.target.address, .source = box.source.address};
    Route route;
    EXPECT_EQ(find_route(client_->copies(), box, route), hipSuccess);
    make_plan(client_->copies(), route, plan);
    return plan;
  }

  std::vector<std::byte> pageable_;
  std::vector<std::byte> other_;
  std::vector<std::byte> lent_;
  std::uint64_t device_ = 0;
  std::unique_ptr<FakeWorker> worker_;
  std::unique_ptr<Client> client_;
};

TEST_F(PlanTest, PageableMemoryIsReadDuringTheCall) {
  for (const bool wait : {false, true}) {
    const CopyPlan line = plan(graph::line(device_, at(pageable_), kLarge), wait);
    EXPECT_EQ(line.way, CopyWay::kToDevice);
    EXPECT_EQ(line.carrier, Carrier::kBulk);
    EXPECT_FALSE(line.early);
    EXPECT_FALSE(line.behind_stream);
    EXPECT_FALSE(plan(rows(device_, at(pageable_)), wait).early);
    EXPECT_EQ(plan(graph::line(device_, at(pageable_), 16), wait).carrier, Carrier::kInline);
    EXPECT_EQ(plan({{device_, 32, 0}, {at(pageable_), 32, 0}, 8, 2, 1}, wait).carrier, Carrier::kBulk)
        << "rows do not fit in the message";
  }
}

TEST_F(PlanTest, PageableMemoryIsWrittenDuringTheCall) {
  for (const Box& box : {graph::line(at(pageable_), device_, kLarge), rows(at(pageable_), device_)}) {
    const CopyPlan made = plan(box, false);
    EXPECT_EQ(made.way, CopyWay::kFromDevice);
    EXPECT_TRUE(made.mode.wait) << "whatever the function is called";
    EXPECT_FALSE(made.early);
  }
}

TEST_F(PlanTest, LentMemoryIsTheCopysUntilTheStreamIsOver) {
  for (const Box& box : {graph::line(device_, at(lent_), kLarge), rows(device_, at(lent_)),
                         graph::line(at(lent_), device_, kLarge), rows(at(lent_), device_)}) {
    const CopyPlan early = plan(box, false);
    EXPECT_EQ(early.carrier, Carrier::kBulk);
    EXPECT_TRUE(early.early);
    EXPECT_FALSE(early.mode.wait);
    EXPECT_FALSE(plan(box, true).early) << "a synchronous form";
  }
  EXPECT_FALSE(plan(graph::line(device_, at(lent_) + kLarge, kLarge), true).early);
  lent_.back() = std::byte{1};
  const std::uint64_t inside = at(lent_) + kLarge;
  EXPECT_TRUE(plan(graph::line(device_, inside, kLarge), false).early) << "to its end";
}

TEST_F(PlanTest, MemoryThatACallbackMayWriteIsReadInItsTurn) {
  std::promise<void> release;
  const auto hold = [released = release.get_future().share()](hipError_t) { released.wait(); };
  ASSERT_EQ(client_->callbacks().add(0, 0, hold), hipSuccess);
  EXPECT_EQ(plan(graph::line(device_, at(lent_), kLarge), false).carrier, Carrier::kInTurn);
  EXPECT_EQ(plan(rows(device_, at(lent_)), false).carrier, Carrier::kInTurn);
  EXPECT_EQ(plan(graph::line(device_, at(lent_), 16), false).carrier, Carrier::kInTurn)
      << "however few bytes";
  EXPECT_EQ(plan(graph::line(device_, at(lent_), kLarge), true).carrier, Carrier::kBulk) << "the call waits";
  EXPECT_EQ(plan(graph::line(device_, at(pageable_), kLarge), false).carrier, Carrier::kBulk)
      << "the callback has no part in memory that the call reads";
  EXPECT_EQ(plan(graph::line(at(lent_), device_, kLarge), false).carrier, Carrier::kBulk)
      << "written in order";
  release.set_value();
}

TEST_F(PlanTest, CopiesOnTheDeviceHaveNoPayload) {
  for (const Box& box : {graph::line(device_, device_ + kLarge, kLarge / 2), rows(device_, device_ + 1024)}) {
    const CopyPlan made = plan(box, false);
    EXPECT_EQ(made.way, CopyWay::kOnDevice);
    EXPECT_EQ(made.carrier, Carrier::kOnDevice);
  }
}

TEST_F(PlanTest, HostMemoryIsTheCallers) {
  const Box box = graph::line(at(pageable_), at(other_), kLarge);
  EXPECT_EQ(plan(box, true).carrier, Carrier::kMapped);
  EXPECT_FALSE(plan(box, true).behind_stream) << "nothing is pending";
  EXPECT_TRUE(plan(box, false).behind_stream) << "large, of a call that need not wait";
  client_->streams().note_posted(0, {Leaves::kWork, 0});
  for (const bool wait : {false, true}) {
    const CopyPlan made = plan(box, wait);
    EXPECT_EQ(made.carrier, Carrier::kMapped);
    EXPECT_TRUE(made.behind_stream);
  }
}

}  // namespace
}  // namespace tf::proxy
