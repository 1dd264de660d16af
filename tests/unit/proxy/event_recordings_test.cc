// SPDX-License-Identifier: Apache-2.0
#include "proxy/session/event_recordings.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "proxy/session/event_times.h"

namespace tf::proxy {
namespace {

std::uint64_t event(std::uint32_t index, std::uint32_t generation = 1) {
  return protocol::Handle(protocol::HandleKind::kEvent, generation, index).raw();
}

TEST(EventRecordings, TheLastOneIsKept) {
  EventRecordings recordings;
  EXPECT_FALSE(recordings.find(event(0)));
  recordings.record(event(5000), 3, 77, 12, 0);
  recordings.record(event(5000), 2, 78, 13, 0);
  recordings.record(event(5000), 2, 78, 13, 4);
  const auto found = recordings.find(event(5000));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->recorded);
  EXPECT_FALSE(found->shared);
  EXPECT_EQ(found->device, 2);
  EXPECT_EQ(found->stream, 78u);
  EXPECT_EQ(found->transfers, 13u);
  EXPECT_EQ(found->owed_waits, 4u);
  EXPECT_FALSE(recordings.find(event(4999)));
}

TEST(EventRecordings, AnotherEventOfTheSlotHasNone) {
  EventRecordings recordings;
  recordings.record(event(1), 0, 7, 1, 0);
  recordings.share(event(1));
  EXPECT_FALSE(recordings.find(event(1, 2)));
  recordings.record(event(1, 2), 0, 8, 2, 0);
  EXPECT_FALSE(recordings.find(event(1, 2))->shared);
  EXPECT_FALSE(recordings.find(event(1)));
}

TEST(EventRecordings, SharedIsForGood) {
  EventRecordings recordings;
  recordings.share(event(1));
  ASSERT_TRUE(recordings.find(event(1)));
  EXPECT_FALSE(recordings.find(event(1))->recorded);
  recordings.record(event(1), 0, 7, 1, 0);
  EXPECT_TRUE(recordings.find(event(1))->shared);
  EXPECT_TRUE(recordings.find(event(1))->recorded);
  recordings.share(event(1));
  EXPECT_EQ(recordings.find(event(1))->stream, 7u);
}

TEST(EventRecordings, WhatWasReachedIsRememberedUntilItIsRecordedAgain) {
  EventRecordings recordings;
  recordings.record(event(3), 1, 7, 1, 0);
  EXPECT_FALSE(recordings.find(event(3))->reached);
  recordings.note_reached(event(3), recordings.ask(event(3)));
  EXPECT_TRUE(recordings.find(event(3))->reached);
  EXPECT_EQ(recordings.find(event(3))->device, 1);
  recordings.record(event(3), 1, 7, 1, 0);
  EXPECT_FALSE(recordings.find(event(3))->reached) << "the same stream again, and yet another recording";
}

// The answer is of the recording before.
TEST(EventRecordings, AnAnswerThatARecordingOvertookSaysNothing) {
  EventRecordings recordings;
  recordings.record(event(3), 0, 7, 1, 0);
  const auto question = recordings.ask(event(3));
  EXPECT_EQ(recordings.ask(event(3)), question) << "two threads ask";
  recordings.record(event(3), 0, 7, 1, 0);
  recordings.note_reached(event(3), question);
  EXPECT_FALSE(recordings.find(event(3))->reached);
  const auto of_old_handle = recordings.ask(event(3));
  recordings.record(event(3, 2), 0, 7, 1, 0);
  recordings.note_reached(event(3), of_old_handle);
  EXPECT_FALSE(recordings.find(event(3, 2))->reached);
}

TEST(EventTimes, AreOfTheRecordingsThatTheyWereTakenOf) {
  EventRecordings recordings;
  EventTimes times;
  const auto recorded = [&](std::uint64_t which) {
    recordings.record(which, 0, 7, 1, 0);
    return recordings.note_reached(which, recordings.ask(which));
  };
  const auto start = recorded(event(3));
  const auto stop = recorded(event(4));
  ASSERT_TRUE(start && stop);
  EXPECT_EQ(times.start_of(event(4)), 0u);
  times.learn(event(3), event(4));
  EXPECT_EQ(times.start_of(event(4)), event(3));
  EXPECT_FALSE(times.find(recordings, event(3), event(4))) << "it was not said yet";
  times.note({event(3), event(4), *start, *stop, 1.5F});
  times.learn(event(3), event(4));
  EXPECT_EQ(times.find(recordings, event(3), event(4)), 1.5F);
  EXPECT_EQ(recordings.note_reached(event(3), recordings.ask(event(3))), start) << "nothing was recorded";
  EXPECT_EQ(times.find(recordings, event(3), event(4)), 1.5F);
  EXPECT_FALSE(times.find(recordings, event(4), event(3)));
  recordings.record(event(3), 0, 7, 1, 0);
  EXPECT_FALSE(times.find(recordings, event(3), event(4))) << "the start again";
  times.note({event(3), event(4), *recordings.note_reached(event(3), recordings.ask(event(3))), *stop, 2.5F});
  EXPECT_EQ(times.find(recordings, event(3), event(4)), 2.5F);
  recordings.record(event(4), 0, 7, 1, 0);
  EXPECT_FALSE(times.find(recordings, event(3), event(4))) << "the stop again";
  EXPECT_EQ(times.start_of(event(4, 2)), 0u) << "another event in the same slot";
  times.learn(event(5), event(4));
  EXPECT_FALSE(times.find(recordings, event(5), event(4)));
}

// Whoever looks while others record sees one of their recordings, never a mixture.
TEST(EventRecordings, NeverTorn) {
  EventRecordings recordings;
  recordings.record(event(9), 0, 0, 0, 0);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int id = 1; id <= 2; ++id)
    writers.emplace_back([&recordings, id] {
      for (std::uint64_t i = 0; i < 50000; ++i)
        recordings.record(event(9), id, i * 2 + static_cast<unsigned>(id), i * 2 + static_cast<unsigned>(id),
                          0);
    });
  std::thread reader([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const auto seen = recordings.find(event(9));
      ASSERT_TRUE(seen);
      ASSERT_EQ(seen->stream, seen->transfers);
      const auto parity = static_cast<unsigned>(seen->device) % 2;
      ASSERT_EQ(seen->stream % 2, parity);
    }
  });
  for (std::thread& writer : writers) writer.join();
  stop.store(true, std::memory_order_relaxed);
  reader.join();
}

}  // namespace
}  // namespace tf::proxy
