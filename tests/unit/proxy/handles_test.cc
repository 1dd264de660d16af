// SPDX-License-Identifier: Apache-2.0
#include "proxy/base/handles.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tf::proxy {
namespace {

using protocol::HandleKind;

TEST(Handles, StaleHandlesAreRecognised) {
  HandleTable streams(HandleKind::kStream);
  std::uint64_t first = streams.create(0)->raw();
  EXPECT_TRUE(streams.contains(first));
  EXPECT_TRUE(streams.remove(first));
  EXPECT_FALSE(streams.remove(first));
  std::uint64_t second = streams.create(3)->raw();
  EXPECT_EQ(protocol::Handle(first).index(), protocol::Handle(second).index()) << "the slot was not reused";
  EXPECT_NE(first, second);
  EXPECT_FALSE(streams.contains(first));
  EXPECT_EQ(streams.device(second), 3);
  EXPECT_EQ(streams.device(first), -1);
}

// A destroyed object's slot is free for others only when its Destroy is queued: a Create before that would
// meet the old object at the worker.
TEST(Handles, ARetiredSlotWaitsForRecycle) {
  HandleTable streams(HandleKind::kStream);
  std::uint64_t first = streams.create(0)->raw();
  EXPECT_TRUE(streams.retire(first));
  EXPECT_FALSE(streams.contains(first));
  EXPECT_FALSE(streams.retire(first)) << "by a second thread";
  std::uint64_t second = streams.create(0)->raw();
  EXPECT_NE(protocol::Handle(first).index(), protocol::Handle(second).index());
  streams.recycle(first);
  std::uint64_t third = streams.create(0)->raw();
  EXPECT_EQ(protocol::Handle(first).index(), protocol::Handle(third).index());
  EXPECT_NE(first, third);
}

TEST(Handles, OtherKindsAndNonsenseAreUnknown) {
  Handles handles;
  std::uint64_t stream = handles.of(HandleKind::kStream).create(0)->raw();
  EXPECT_FALSE(handles.of(HandleKind::kEvent).contains(stream));
  for (std::uint64_t raw : std::vector<std::uint64_t>{0, 1, 2, 0x7fff12345678, ~0ull, stream + 1})
    EXPECT_FALSE(handles.of(HandleKind::kStream).contains(raw)) << raw;
}

TEST(Handles, ASlotWhoseGenerationsAreUsedUpIsRetired) {
  constexpr std::uint32_t kGenerations = 3;
  HandleTable streams(HandleKind::kStream, kGenerations);
  std::vector<std::uint64_t> seen;
  for (std::uint32_t i = 0; i < 2 * kGenerations; ++i) {
    std::uint64_t raw = streams.create(0)->raw();
    for (std::uint64_t old : seen) EXPECT_NE(raw, old) << "a destroyed handle came back";
    seen.push_back(raw);
    EXPECT_TRUE(streams.remove(raw));
  }
  EXPECT_NE(protocol::Handle(seen.front()).index(), protocol::Handle(seen.back()).index());
}

TEST(Handles, PermanentOnesStay) {
  HandleTable pools(HandleKind::kMemPool);
  std::uint64_t raw = pools.create(0)->raw();
  EXPECT_FALSE(pools.is_permanent(raw));
  pools.make_permanent(raw);
  EXPECT_TRUE(pools.is_permanent(raw));
  EXPECT_FALSE(pools.remove(raw));
  EXPECT_TRUE(pools.contains(raw));
  EXPECT_FALSE(pools.is_permanent(raw + 1));
}

TEST(Handles, TableIsBounded) {
  HandleTable events(HandleKind::kEvent);
  for (std::uint32_t i = 0; i < protocol::kHandleSlotsMax; ++i) ASSERT_TRUE(events.create(0));
  EXPECT_FALSE(events.create(0));
}

TEST(Handles, Threads) {
  HandleTable events(HandleKind::kEvent);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&events] {
      for (int i = 0; i < 2000; ++i) {
        std::uint64_t raw = events.create(0, std::make_shared<Facts>())->raw();
        EXPECT_NE(events.facts(raw), nullptr);
        EXPECT_TRUE(events.remove(raw));
        EXPECT_EQ(events.facts(raw), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(events.all().empty());
}

}  // namespace
}  // namespace tf::proxy
