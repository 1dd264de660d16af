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
// never wraps: a pad record fills the rest of the area. A record is nothing but its message, of which the
// ring keeps eight bytes for itself, the commit word:
//
//   0       16        the message's
//   16      8         live bit | sequence: low 39 bits of position / 64 | length: 24 bits; kPadLength: a pad
//   24      length-24 the message's
//
// What the message has there must follow from its length (a frame's payload_length does): the consumer finds
// the word in its place. So a 64-byte message is one line, and one line is all that moves between the caches.
//
// The word is stored last, with release (R1). The consumer loads it with acquire (A1) and takes the record
// when live bit and sequence are those that its own position asks for. Bytes of an earlier lap never are:
//   - a word of an earlier lap has another sequence, until the sequence begins anew after 2^39 lines;
//   - anything else that a word's place may hold, the inner lines of longer records and what stood there half
//     a round of the sequence ago, is noted as stained, and a stained line is cleared before the record in
//     front of it is published: the consumer looks there next, and not earlier;
//   - reserve() clears the word, and what the caller writes over it, a number below 2^24, is not live.
// Clearing every line ahead instead would take it from the consumer, who polls it: two moves more a message.
//
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
#include <vector>

#include "transport/base/status.h"

namespace tf {

inline constexpr std::size_t kRingLineBytes = 64;
inline constexpr std::size_t kRingHeaderBytes = 256;
inline constexpr std::size_t kRingWordOffset = 16;  // of the commit word in a record
inline constexpr std::size_t kRingMessageMin = 24;
inline constexpr std::size_t kRingCapacityMin = 4096;
inline constexpr std::size_t kRingCapacityMax = 1 << 24;

constexpr std::size_t ring_bytes(std::size_t capacity) { return kRingHeaderBytes + capacity; }
constexpr std::size_t ring_lines(std::size_t bytes) {
  return (bytes + kRingLineBytes - 1) / kRingLineBytes * kRingLineBytes;
}

// What a commit word says.
inline constexpr std::uint64_t kRingLengthMask = 0xff'ffff;
inline constexpr std::uint64_t kRingPadLength = kRingLengthMask;
inline constexpr std::uint64_t kRingLive = std::uint64_t{1} << 63;
// Positions this far apart have the same sequence.
inline constexpr unsigned kRingSequenceShift = 45;
constexpr std::uint64_t ring_sequence(std::uint64_t position) {
  return kRingLive | position / kRingLineBytes << 24;  // the highest bits drop out, or are the live bit
}
constexpr std::uint64_t ring_word(std::uint64_t position, std::uint64_t length) {
  return ring_sequence(position) | length;
}

// A ring whose header has been checked (or just written). Does not own the memory.
class RingView {
 public:
  // Writes a fresh ring over `memory`, which must be 64-byte aligned and ring_bytes(capacity) long.
  static Result<RingView> format(std::span<std::byte> memory, std::size_t capacity);
  // Checks a ring that somebody else wrote. kProtocol names what is wrong.
  static Result<RingView> attach(std::span<std::byte> memory, std::size_t capacity);

  std::byte* data() const { return base_ + kRingHeaderBytes; }
  std::size_t capacity() const { return capacity_; }
  std::size_t offset(std::uint64_t position) const {
    return static_cast<std::size_t>(position & (capacity_ - 1));
  }
  std::atomic_ref<std::uint64_t> consumed() const;
  // Commit word of the record at `position`.
  std::atomic_ref<std::uint64_t> word(std::uint64_t position) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(data() + offset(position) + kRingWordOffset));
  }

 private:
  RingView(std::byte* base, std::size_t capacity) : base_(base), capacity_(capacity) {}
  std::byte* base_;
  std::size_t capacity_;
};

class RingProducer {
 public:
  // Both sides start at `position`, a multiple of 64: zero, or where a test wants to look.
  explicit RingProducer(RingView ring, std::uint64_t position = 0);

  // Largest message the ring takes.
  std::size_t bytes_max() const { return ring_.capacity() / 4; }
  // Space for a message of `bytes`; empty when the consumer is behind, or broken(). The eight bytes at
  // kRingWordOffset get lost; leave them, or write less than 2^24. REQUIRES: kRingMessageMin <= bytes <=
  // bytes_max().
  std::span<std::byte> reserve(std::size_t bytes);
  void publish();
  void abandon();
  // The consumer's position makes no sense: nothing can be reserved any more.
  bool broken() const { return broken_; }
  // A reserve() of `bytes` may give something. Any thread.
  bool has_room(std::size_t bytes) const;

 private:
  std::size_t to_end(std::uint64_t position) const { return ring_.capacity() - ring_.offset(position); }
  std::size_t wanted(std::uint64_t position, std::size_t bytes) const;
  bool make_room(std::uint64_t position, std::uint64_t end);
  void pad(std::uint64_t& position);
  void commit(std::uint64_t position, std::uint64_t next, std::uint64_t length);
  void stain(std::uint64_t begin, std::uint64_t end);
  void clear_if_stained(std::uint64_t position);

  RingView ring_;
  std::atomic<std::uint64_t> position_;  // written by the producer only; others look
  std::uint64_t consumed_;               // cached
  std::size_t reserved_ = 0;
  bool broken_ = false;
  std::vector<std::uint64_t> stained_;  // a bit for each line of the data area
};

class RingConsumer {
 public:
  explicit RingConsumer(RingView ring, std::uint64_t position = 0)
      : ring_(ring), position_(position), released_(position) {}

  // The oldest message not consumed yet, in place; empty when there is none, or broken(). The commit word
  // stands at kRingWordOffset of it.
  std::span<const std::byte> peek();
  // What stands there is no record: nothing can be read any more.
  bool broken() const { return broken_; }
  // Done with the message that peek() gave.
  void consume() { advance(std::exchange(current_, 0)); }
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
  static bool is_current(std::uint64_t word, std::uint64_t position) {
    return (word & ~kRingLengthMask) == ring_sequence(position);
  }
  void advance(std::size_t bytes);

  RingView ring_;
  std::atomic<std::uint64_t> position_;  // written by the consumer only; others look
  std::uint64_t released_;
  std::size_t current_ = 0;  // bytes of ring that peek()'s record takes
  bool has_released_ = false;
  bool broken_ = false;
};

// --- What every message passes through ------------------------------------------------------------------

inline std::atomic_ref<std::uint64_t> RingView::consumed() const {
  constexpr std::size_t kConsumedOffset = 128;
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(base_ + kConsumedOffset));
}

// A record may be preceded by a pad and is followed by one line that may have to be cleared, so must be free.
inline std::size_t RingProducer::wanted(std::uint64_t position, std::size_t bytes) const {
  const std::size_t needed = ring_lines(bytes);
  const std::size_t rest = to_end(position);
  return (needed > rest ? rest : 0) + needed + kRingLineBytes;
}

inline std::span<std::byte> RingProducer::reserve(std::size_t bytes) {
  std::uint64_t position = position_.load(std::memory_order_relaxed);
  const std::uint64_t end = position + wanted(position, bytes);
  if (end - consumed_ > ring_.capacity() && !make_room(position, end)) [[unlikely]]
    return {};
  if (ring_lines(bytes) > to_end(position)) [[unlikely]]
    pad(position);
  ring_.word(position).store(0, std::memory_order_relaxed);
  reserved_ = bytes;
  return {ring_.data() + ring_.offset(position), bytes};
}

inline void RingProducer::publish() {
  const std::uint64_t position = position_.load(std::memory_order_relaxed);
  const std::uint64_t next = position + ring_lines(reserved_);
  if (reserved_ > kRingLineBytes) stain(position + kRingLineBytes, next);
  commit(position, next, reserved_);
}

inline void RingProducer::clear_if_stained(std::uint64_t position) {
  const std::size_t line = ring_.offset(position) / kRingLineBytes;
  const std::uint64_t bit = std::uint64_t{1} << line % 64;
  if ((stained_[line / 64] & bit) == 0) return;
  stained_[line / 64] &= ~bit;
  ring_.word(position).store(0, std::memory_order_relaxed);  // ordered by the release in commit()
}

inline void RingProducer::commit(std::uint64_t position, std::uint64_t next, std::uint64_t length) {
  if ((position ^ next) >> (kRingSequenceShift - 1) != 0) [[unlikely]]
    stain(next, next + ring_.capacity());  // half a round: what stands there now must be gone a round later
  clear_if_stained(next);
  ring_.word(position).store(ring_word(position, length), std::memory_order_release);  // R1
  position_.store(next, std::memory_order_relaxed);
}

inline std::span<const std::byte> RingConsumer::peek() {
  for (int pads = 0; pads < 2 && !broken_; ++pads) {
    const std::uint64_t position = position_.load(std::memory_order_relaxed);
    const std::uint64_t word = ring_.word(position).load(std::memory_order_acquire);  // A1
    if (!is_current(word, position)) return {};
    const std::size_t length = word & kRingLengthMask;
    const std::size_t at = ring_.offset(position);
    if (length != kRingPadLength) {
      if (length < kRingMessageMin || length > ring_.capacity() / 4 || length > ring_.capacity() - at) break;
      current_ = ring_lines(length);
      return {ring_.data() + at, length};
    }
    advance(ring_.capacity() - at);
  }
  broken_ = true;
  return {};
}

inline bool RingConsumer::has_record() const {
  const std::uint64_t position = position_.load(std::memory_order_acquire);           // pairs with advance()
  return is_current(ring_.word(position).load(std::memory_order_acquire), position);  // A1
}

inline void RingConsumer::advance(std::size_t bytes) {
  const std::uint64_t position = position_.load(std::memory_order_relaxed) + bytes;
  position_.store(position, std::memory_order_release);  // pairs with position() and has_record()
  if (position - released_ >= ring_.capacity() / 4) release();
}

inline void RingConsumer::release() {
  released_ = position_.load(std::memory_order_relaxed);
  ring_.consumed().store(released_, std::memory_order_release);  // R2
  has_released_ = true;
}

}  // namespace tf
