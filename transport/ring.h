// SPDX-License-Identifier: Apache-2.0
// A record ring with one producer and one consumer, in memory that the caller provides and that may be
// shared with a hostile process.
//
//   offset  size      who writes   what
//   0       8         creator      magic | layout version
//   8       8         creator      capacity: bytes of the data area, a power of two
//   128     8         consumer     consumed: position up to which the data area may be overwritten
//   256     capacity  producer     records
//
// Positions are 64-bit and only grow; a record lies at position % capacity, starts on a 64-byte line and
// never wraps: a pad record fills the rest of the area. A record is
//
//   0       4         length of the message in bytes; kPadLength marks a pad record
//   4       4         sequence: low 32 bits of (position / 64) + 1
//   8       length    the message
//
// and both words are stored together, last, with release (R1). The consumer loads them with acquire (A1) and
// takes the record when the sequence is the one its own position asks for. Bytes of an earlier lap can
// never look like a record, because before a record is published the first word of the line behind it is
// zeroed, and a record's first word is never zero.
// `consumed` is stored with release (R2) after the consumer has left the record, and loaded with acquire (A2)
// by the producer before it overwrites. The producer caches it; the consumer stores it whenever a quarter of
// the ring has been read. A record and the pad before it take little more than half of the ring, so a
// consumer that has read everything leaves room for any record, and an empty ring costs no store.
//
// The producer side and the consumer side may be used by one thread each, concurrently. The functions marked
// "any thread" are hints for waiters.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "transport/status.h"

namespace tf {

inline constexpr std::size_t kRingLineBytes = 64;
inline constexpr std::size_t kRingHeaderBytes = 256;
inline constexpr std::size_t kRingPrefixBytes = 8;
inline constexpr std::size_t kRingCapacityMin = 4096;
inline constexpr std::size_t kRingCapacityMax = 1 << 24;

constexpr std::size_t ring_bytes(std::size_t capacity) { return kRingHeaderBytes + capacity; }

// A ring whose header has been checked (or just written). Does not own the memory.
class RingView {
 public:
  // Writes a fresh ring over `memory`, which must be 64-byte aligned and ring_bytes(capacity) long.
  static Result<RingView> format(std::span<std::byte> memory, std::size_t capacity);
  // Checks a ring that somebody else wrote. kProtocol names what is wrong.
  static Result<RingView> attach(std::span<std::byte> memory, std::size_t capacity);

  std::byte* data() const { return base_ + kRingHeaderBytes; }
  std::size_t capacity() const { return capacity_; }
  std::atomic_ref<std::uint64_t> consumed() const;
  // Commit word of the record at `position`.
  std::atomic_ref<std::uint64_t> word(std::uint64_t position) const;

 private:
  RingView(std::byte* base, std::size_t capacity) : base_(base), capacity_(capacity) {}
  std::byte* base_;
  std::size_t capacity_;
};

class RingProducer {
 public:
  explicit RingProducer(RingView ring) : ring_(ring) {}

  // Largest message the ring takes.
  std::size_t bytes_max() const { return ring_.capacity() / 4; }
  // Space for a message of `bytes`; empty when the consumer is behind, or broken(). REQUIRES: 0 < bytes <=
  // bytes_max().
  std::span<std::byte> reserve(std::size_t bytes);
  void publish();
  void abandon() { reserved_ = 0; }
  // The consumer's position makes no sense: nothing can be reserved any more.
  bool broken() const { return broken_; }
  // A reserve() of `bytes` may give something. Any thread.
  bool has_room(std::size_t bytes) const;

 private:
  std::size_t to_end(std::uint64_t position) const {
    return ring_.capacity() - static_cast<std::size_t>(position & (ring_.capacity() - 1));
  }
  std::size_t wanted(std::uint64_t position, std::size_t bytes) const;
  bool refresh_consumed(std::uint64_t position);
  void prefetch(std::uint64_t position) const;

  RingView ring_;
  std::atomic<std::uint64_t> position_{0};  // written by the producer only; others look
  std::uint64_t consumed_ = 0;              // cached
  std::size_t reserved_ = 0;
  bool broken_ = false;
};

class RingConsumer {
 public:
  explicit RingConsumer(RingView ring) : ring_(ring) {}

  // The oldest message not consumed yet, in place; empty when there is none, or broken().
  std::span<const std::byte> peek();
  // What stands there is no record: nothing can be read any more.
  bool broken() const { return broken_; }
  // Done with the message that peek() gave.
  void consume();
  // Gives the producer all room back now.
  void release();
  // Has room been given back since the last call? Then the producer's side is to be woken.
  bool take_released() { return std::exchange(has_released_, false); }
  // Something may be there. The consumer's thread, or any thread while the producer writes no more. A look by
  // another thread beside live traffic is only a hint: the word may just be overwritten by a later payload.
  bool has_record() const;
  // Where the next message is, or the one at hand. Any thread; what the consumer did before it moved on to
  // this position has happened (acquire, pairs with the release in advance()).
  std::uint64_t position() const { return position_.load(std::memory_order_acquire); }

 private:
  void advance(std::size_t bytes);

  RingView ring_;
  std::atomic<std::uint64_t> position_{0};  // written by the consumer only; others look
  std::uint64_t released_ = 0;
  std::size_t current_ = 0;  // bytes of ring that peek()'s record takes
  bool has_released_ = false;
  bool broken_ = false;
};

}  // namespace tf
