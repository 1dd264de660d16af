// SPDX-License-Identifier: Apache-2.0
// The ring where the other side writes what it likes. Under the address sanitizer a read outside of the
// memory ends the test, for the memory is exactly as long as the ring.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/ring/memory.h"
#include "transport/ring.h"

namespace tf {
namespace {

using test::RingMemory;

constexpr std::size_t kCapacity = 4096;

constexpr std::uint64_t kShort = 30;  // of one line

TEST(RingHostile, FormatChecksItsArguments) {
  RingMemory memory(kCapacity);
  const std::span<std::byte> all = memory.span();
  for (const std::size_t capacity :
       {std::size_t{0}, std::size_t{2048}, std::size_t{4097}, 2 * kRingCapacityMax})
    EXPECT_EQ(RingView::format(all, capacity).code(), Code::kInvalidArgument) << capacity;
  EXPECT_EQ(RingView::format(all.first(all.size() - 1), kCapacity).code(), Code::kInvalidArgument);
  RingMemory larger(2 * kCapacity);
  EXPECT_EQ(RingView::format(larger.span().subspan(8), kCapacity).code(), Code::kInvalidArgument);
}

TEST(RingHostile, AttachChecksMagicAndCapacity) {
  RingMemory memory(2 * kCapacity);
  EXPECT_TRUE(RingView::attach(memory.span(), 2 * kCapacity).is_ok());
  EXPECT_EQ(RingView::attach(memory.span(), kCapacity).code(), Code::kProtocol);
  memory.span()[0] ^= std::byte{1};
  EXPECT_EQ(RingView::attach(memory.span(), 2 * kCapacity).code(), Code::kProtocol);
}

TEST(RingHostile, LengthsThatMakeNoSenseBreakTheConsumer) {
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{kRingMessageMin - 1}, std::uint64_t{kCapacity / 4 + 1},
        std::uint64_t{kCapacity}, std::uint64_t{0x80'0000}, kRingPadLength - 1}) {
    RingMemory memory(kCapacity);
    RingConsumer consumer(memory.view());
    memory.write_word(0, ring_word(0, length));
    EXPECT_TRUE(consumer.peek().empty()) << length;
    EXPECT_TRUE(consumer.broken()) << length;
    memory.write_word(0, ring_word(0, kShort));
    EXPECT_TRUE(consumer.peek().empty()) << "broken is for ever";
  }
}

TEST(RingHostile, ARecordMustNotCrossTheEnd) {
  RingMemory memory(kCapacity);
  RingConsumer consumer(memory.view());
  std::uint64_t position = 0;
  for (; position < kCapacity - kRingLineBytes; position += kRingLineBytes) {
    memory.write_word(position, ring_word(position, kShort));
    ASSERT_EQ(consumer.peek().size(), kShort);
    consumer.consume();
  }
  memory.write_word(position, ring_word(position, kRingLineBytes + 1));
  EXPECT_TRUE(consumer.peek().empty());
  EXPECT_TRUE(consumer.broken());
}

TEST(RingHostile, PadsWithoutEndBreakTheConsumer) {
  RingMemory memory(kCapacity);
  RingConsumer consumer(memory.view());
  memory.write_word(0, ring_word(0, kRingPadLength));
  EXPECT_TRUE(consumer.peek().empty());  // one may be
  EXPECT_FALSE(consumer.broken());
  memory.write_word(0, ring_word(kCapacity, kRingPadLength));
  EXPECT_TRUE(consumer.peek().empty());
  RingMemory twice(kCapacity);
  RingConsumer victim(twice.view());
  twice.write_word(0, ring_word(0, kShort));
  ASSERT_EQ(victim.peek().size(), kShort);
  victim.consume();
  twice.write_word(64, ring_word(64, kRingPadLength));
  twice.write_word(0, ring_word(kCapacity, kRingPadLength));
  EXPECT_TRUE(victim.peek().empty());
  EXPECT_TRUE(victim.broken());
}

TEST(RingHostile, WrongSequencesAreNoRecords) {
  RingMemory memory(kCapacity);
  RingConsumer consumer(memory.view());
  for (const std::uint64_t word :
       {kShort, kRingLengthMask, ring_word(64, kShort), ring_word(kCapacity, kShort),
        ring_word(0, kShort) & ~kRingLive, ~std::uint64_t{0}}) {
    memory.write_word(0, word);
    EXPECT_FALSE(consumer.has_record()) << word;
    EXPECT_TRUE(consumer.peek().empty()) << word;
    EXPECT_FALSE(consumer.broken()) << word;
  }
}

TEST(RingHostile, ConsumedThatMakesNoSenseBreaksTheProducer) {
  for (const std::uint64_t consumed : {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{kCapacity},
                                       std::uint64_t{1} << 63, ~std::uint64_t{63}, ~std::uint64_t{0}}) {
    RingMemory memory(kCapacity);
    RingProducer producer(memory.view());
    while (!producer.reserve(64).empty()) producer.publish();
    ASSERT_FALSE(producer.broken());
    memory.view().consumed().store(consumed, std::memory_order_release);
    (void)producer.has_room(64);
    EXPECT_TRUE(producer.reserve(64).empty()) << consumed;
    EXPECT_TRUE(producer.broken()) << consumed;
    memory.view().consumed().store(64, std::memory_order_release);
    EXPECT_TRUE(producer.reserve(64).empty()) << "broken is for ever";
  }
}

TEST(RingHostile, ConsumedMustNotGoBack) {
  RingMemory memory(kCapacity);
  RingProducer producer(memory.view());
  while (!producer.reserve(64).empty()) producer.publish();
  memory.view().consumed().store(1024, std::memory_order_release);
  while (!producer.reserve(64).empty()) producer.publish();
  ASSERT_FALSE(producer.broken());
  memory.view().consumed().store(960, std::memory_order_release);
  EXPECT_TRUE(producer.reserve(64).empty());
  EXPECT_TRUE(producer.broken());
}

// Random words everywhere while honest records are read: whatever happens stays inside of the memory, and the
// consumer never yields a record longer than a record may be.
TEST(RingHostile, RandomWordsDoNoHarm) {
  std::minstd_rand random(7);
  std::size_t taken = 0;
  for (int round = 0; round < 300; ++round) {
    RingMemory memory(kCapacity);
    RingConsumer consumer(memory.view());
    for (int step = 0; step < 300 && !consumer.broken(); ++step) {
      const std::uint64_t length =
          random() % 8 == 0 ? random() & kRingLengthMask : kRingMessageMin + random() % 1020;
      const bool is_pad = random() % 16 == 0;
      memory.write_word(consumer.position(),
                        ring_word(consumer.position(), is_pad ? kRingPadLength : length));
      const std::span<const std::byte> record = consumer.peek();
      ASSERT_LE(record.size(), kCapacity / 4);
      if (record.empty()) continue;
      EXPECT_GE(record.data(), memory.view().data());
      EXPECT_LE(record.data() + record.size(), memory.view().data() + kCapacity);
      consumer.consume();
      ++taken;
    }
  }
  EXPECT_GT(taken, 1000u);
}

}  // namespace
}  // namespace tf
