// SPDX-License-Identifier: Apache-2.0
// The ring between two honest sides.
#include "transport/ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include "tests/support/peer.h"
#include "tests/unit/ring/memory.h"

namespace tf {
namespace {

using test::RingMemory;

constexpr std::size_t kAfterWord = kRingWordOffset + sizeof(std::uint64_t);

// What of a message is the caller's: all but the ring's word.
template <typename Bytes>
std::pair<Bytes, Bytes> parts(Bytes message) {
  return {message.first(kRingWordOffset), message.subspan(kAfterWord)};
}

bool put(RingProducer& producer, std::size_t bytes, std::uint64_t seed) {
  const std::span<std::byte> slot = producer.reserve(bytes);
  if (slot.empty()) return false;
  const auto [head, tail] = parts(slot);
  test::fill_pattern(head, seed);
  test::fill_pattern(tail, seed + 1);
  producer.publish();
  return true;
}

// The next record is this one, in size and in every byte.
void take(RingConsumer& consumer, std::size_t bytes, std::uint64_t seed) {
  const std::span<const std::byte> record = consumer.peek();
  ASSERT_EQ(record.size(), bytes) << "record " << seed;
  const auto [head, tail] = parts(record);
  ASSERT_EQ(test::find_mismatch(head, seed), test::kNoMismatch) << "record " << seed;
  ASSERT_EQ(test::find_mismatch(tail, seed + 1), test::kNoMismatch) << "record " << seed;
  consumer.consume();
}

TEST(Ring, EmptyGivesNothing) {
  RingMemory memory(4096);
  RingConsumer consumer(memory.view());
  EXPECT_FALSE(consumer.has_record());
  EXPECT_TRUE(consumer.peek().empty());
  EXPECT_FALSE(consumer.broken());
  EXPECT_FALSE(consumer.take_released());
}

TEST(Ring, AnAbandonedRecordIsNeverSeen) {
  RingMemory memory(4096);
  RingProducer producer(memory.view());
  RingConsumer consumer(memory.view());
  ASSERT_EQ(producer.reserve(100).size(), 100u);
  producer.abandon();
  EXPECT_FALSE(consumer.has_record());
  ASSERT_TRUE(put(producer, 40, 1));
  take(consumer, 40, 1);
}

// Every size at every place where a record may begin, so that every pad occurs.
TEST(Ring, WrapsAtEveryAlignment) {
  constexpr std::size_t kCapacity = 4096;
  for (std::size_t start = 0; start < kCapacity / kRingLineBytes; ++start) {
    RingMemory memory(kCapacity);
    RingProducer producer(memory.view());
    RingConsumer consumer(memory.view());
    for (std::size_t line = 0; line < start; ++line) {
      ASSERT_TRUE(put(producer, 30, line));
      take(consumer, 30, line);
    }
    for (std::size_t bytes = kRingMessageMin; bytes <= producer.bytes_max(); bytes += bytes < 130 ? 1 : 37) {
      ASSERT_TRUE(put(producer, bytes, bytes)) << "a consumer that has read everything left no room";
      ASSERT_TRUE(consumer.has_record());
      take(consumer, bytes, bytes);
      ASSERT_FALSE(consumer.has_record());
    }
  }
}

TEST(Ring, FullRefusesAndRoomComesBack) {
  RingMemory memory(8192);
  RingProducer producer(memory.view());
  RingConsumer consumer(memory.view());
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (int round = 0; round < 50; ++round) {
    while (put(producer, 100, sent)) ++sent;
    EXPECT_FALSE(producer.has_room(100));
    EXPECT_FALSE(producer.broken());
    ASSERT_GE(sent - received, 8192u / 128 - 33);  // all but the quarter that is not given back, and a line
    bool released = false;
    while (!released) {
      take(consumer, 100, received++);
      released = consumer.take_released();
      EXPECT_EQ(producer.has_room(100), released);
    }
    while (round % 2 == 0 && received < sent) take(consumer, 100, received++);
  }
}

// A pad alone, published by a reserve() that was then abandoned, must not cost room for ever.
TEST(Ring, APadAloneLeavesRoom) {
  constexpr std::size_t kCapacity = 4096;
  RingMemory memory(kCapacity);
  RingProducer producer(memory.view());
  RingConsumer consumer(memory.view());
  for (int record = 0; record < 49; ++record) {  // 15 lines short of the end
    ASSERT_TRUE(put(producer, 30, 1));
    take(consumer, 30, 1);
  }
  ASSERT_EQ(producer.reserve(producer.bytes_max()).size(), producer.bytes_max());
  producer.abandon();
  EXPECT_TRUE(consumer.peek().empty());
  EXPECT_FALSE(consumer.broken());
  for (int record = 0; record < 200; ++record) {
    ASSERT_TRUE(put(producer, producer.bytes_max(), 2)) << record;
    take(consumer, producer.bytes_max(), 2);
  }
}

// Writes over `slot`, on every line behind the first, what a record one or two laps on would begin with
// there.
void forge_words(std::span<std::byte> slot, const RingView& ring, std::uint64_t position,
                 std::minstd_rand& random) {
  for (std::size_t at = kRingLineBytes + kRingWordOffset; at + 8 <= slot.size(); at += kRingLineBytes) {
    const std::uint64_t lap = position / ring.capacity() + 1 + random() % 2;
    const auto place = static_cast<std::size_t>(slot.data() + at - ring.data());
    const std::uint64_t forged = ring_word(lap * ring.capacity() + place, kRingMessageMin);
    std::memcpy(slot.data() + at, &forged, sizeof forged);
  }
}

// Old payloads full of what looks like commit words: none is ever taken for a record.
TEST(Ring, BytesOfEarlierLapsAreNoRecords) {
  RingMemory memory(4096);
  RingProducer producer(memory.view());
  RingConsumer consumer(memory.view());
  std::minstd_rand random(5);
  for (int record = 0; record < 20'000; ++record) {
    const std::size_t bytes = kRingMessageMin + (random() % 3 == 0 ? random() % 40 : random() % 1000);
    const std::span<std::byte> slot = producer.reserve(bytes);
    ASSERT_EQ(slot.size(), bytes);
    forge_words(slot, memory.view(), consumer.position(), random);
    if (random() % 4 == 0) {
      producer.abandon();
      (void)consumer.peek();  // a pad
    } else {
      producer.publish();
      ASSERT_EQ(consumer.peek().size(), bytes);
      consumer.consume();
    }
    ASSERT_FALSE(consumer.has_record()) << "record " << record;
    ASSERT_TRUE(consumer.peek().empty());
    ASSERT_FALSE(consumer.broken());
  }
}

// What lies untouched for a whole round of the sequence would be current again: it must be gone by then.
TEST(Ring, WordsOfAnEarlierRoundAreNoRecords) {
  constexpr std::size_t kCapacity = 4096;
  constexpr std::uint64_t kRound = std::uint64_t{1} << kRingSequenceShift;
  constexpr std::uint64_t kLead = 64 * kRingLineBytes;
  for (const std::uint64_t crossed : {kRound / 2, kRound}) {
    RingMemory memory(kCapacity);
    memory.view().consumed().store(crossed - kLead, std::memory_order_relaxed);
    RingProducer producer(memory.view(), crossed - kLead);
    RingConsumer consumer(memory.view(), crossed - kLead);
    for (std::uint64_t line = 0; line < kCapacity; line += kRingLineBytes)
      memory.write_word(line, ring_word(crossed + line, kRingMessageMin));
    for (int record = 0; record < 64; ++record) {  // up to the crossing: what is in front is not stained yet
      memory.write_word(consumer.position() + kRingLineBytes, 0);
      ASSERT_TRUE(put(producer, 30, 1));
      take(consumer, 30, 1);
    }
    ASSERT_EQ(consumer.position(), crossed);
    for (int record = 0; record < 200; ++record) {
      ASSERT_FALSE(consumer.has_record()) << "record " << record;
      ASSERT_TRUE(put(producer, 30, 1));
      take(consumer, 30, 1);
    }
  }
}

// A header written over the word of a reserved record, before it is published, is nothing yet.
TEST(Ring, ALengthInTheWordsPlaceIsNoRecord) {
  RingMemory memory(4096);
  RingProducer producer(memory.view());
  RingConsumer consumer(memory.view());
  for (int record = 0; record < 200; ++record) {
    const std::span<std::byte> slot = producer.reserve(64);
    ASSERT_EQ(slot.size(), 64u);
    for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{40}, kRingLengthMask}) {
      std::memcpy(slot.data() + kRingWordOffset, &length, sizeof length);
      EXPECT_FALSE(consumer.has_record());
      EXPECT_TRUE(consumer.peek().empty());
    }
    producer.publish();
    ASSERT_EQ(consumer.peek().size(), 64u);
    consumer.consume();
  }
}

// Both sides at once, and a third thread that only looks, as wait() does.
TEST(Ring, TwoThreadsAndAWatcher) {
  constexpr std::uint64_t kRecords = 60'000;
  RingMemory memory(16 * 1024);
  RingProducer producer(memory.view());
  RingConsumer consumer(memory.view());
  std::atomic<bool> stop{false};
  const auto size_of = [](std::uint64_t record) {
    return kRingMessageMin + record * 2654435761u % 1500 / (1 + record % 20);
  };
  std::thread sender([&] {
    for (std::uint64_t record = 0; record < kRecords && !stop.load(std::memory_order_acquire);) {
      if (put(producer, size_of(record), record)) {
        ++record;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::thread watcher([&] {
    std::uint64_t last = 0;
    while (!stop.load(std::memory_order_acquire)) {
      (void)producer.has_room(200);
      EXPECT_GE(consumer.position(), last);
      last = consumer.position();
      std::this_thread::yield();
    }
  });
  for (std::uint64_t record = 0; record < kRecords && !testing::Test::HasFatalFailure();) {
    if (consumer.peek().empty()) {  // has_record() may mean a pad whose record is still being written
      if (consumer.broken()) {
        ADD_FAILURE() << "broken at record " << record;
        break;
      }
      std::this_thread::yield();
    } else {
      take(consumer, size_of(record), record);
      ++record;
    }
  }
  stop.store(true, std::memory_order_release);
  sender.join();
  watcher.join();
}

}  // namespace
}  // namespace tf
