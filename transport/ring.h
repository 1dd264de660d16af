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
// never wraps: a pad record fills the rest of the area. A record is just its message; the ring takes eight
// bytes of that for itself, the commit word:
//
//   0       16        the message's
//   16      8         live bit | sequence: low 39 bits of position / 64 | length: 24 bits; kPadLength: a pad
//   24      length-24 the message's
//
// The bytes that the message had there must follow from its length (a frame's payload_length does): the
// consumer finds the word in their place. So a 64-byte message is one line, and only one line moves between
// the caches.
//
// The word is stored last, with release (R1). The consumer loads it with acquire (A1), and takes the record
// if live bit and sequence match its own position. Bytes of an earlier lap never match:
//   - a word of an earlier lap has another sequence, until the sequence wraps after 2^39 lines;
//   - anything else at a word's place (the inner lines of longer records, and whatever was written half a
//     sequence round ago) is marked as stained. A stained line is cleared before the record in front of it is
//     published; the consumer looks at it only after that;
//   - reserve() clears the word, and what the caller writes over it, a number below 2^24, is not live.
// Clearing every line ahead of time instead would take it from the consumer that polls it: two more line
// transfers per message.
//
// `consumed` is stored with release (R2) when the consumer is done with the record, and loaded with acquire
// (A2) by the producer before it overwrites. The producer caches it; the consumer stores it each time it has
// read a quarter of the ring. A record and the pad before it take little more than half of the ring, so once
// the consumer has read everything there is room for any record, and an empty ring costs no store.
//
// One thread may use the producer side while another uses the consumer side. Functions marked "any thread"
// are hints for waiters.
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
  // Both sides start at `position`, a multiple of 64: zero, or a value that a test wants to try.
  explicit RingProducer(RingView ring, std::uint64_t position = 0);

  // Largest message the ring takes.
  std::size_t bytes_max() const { return ring_.capacity() / 4; }
  // Space for a message of `bytes`; empty if the consumer is behind, or broken(). The eight bytes at
  // kRingWordOffset are lost: leave them alone, or write less than 2^24. REQUIRES: kRingMessageMin <= bytes
  // <= bytes_max().
  std::span<std::byte> reserve(std::size_t bytes);
  void publish();
  void abandon();
  // The consumer's position is impossible: nothing can be reserved any more.
  bool broken() const { return broken_; }
  // A reserve() of `bytes` may succeed. Any thread.
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
  std::uint64_t consumed_;               // cached copy
  std::size_t reserved_ = 0;
  bool broken_ = false;
  std::vector<std::uint64_t> stained_;  // a bit for each line of the data area
};

class RingConsumer {
 public:
  explicit RingConsumer(RingView ring, std::uint64_t position = 0)
      : ring_(ring), position_(position), released_(position) {}

  // The oldest message not consumed yet, in place; empty if there is none, or broken(). Its commit word is at
  // kRingWordOffset.
  std::span<const std::byte> peek();
  // There is no valid record here: nothing can be read any more.
  bool broken() const { return broken_; }
  // Done with the message that peek() gave.
  void consume() { advance(std::exchange(current_, 0)); }
  // Gives the producer all room back now.
  void release();
  // Whether room was given back since the last call. If so, wake the producer's side.
  bool take_released() { return std::exchange(has_released_, false); }
  // There may be a message. Call it on the consumer's thread, or on any thread once the producer has stopped.
  // From another thread beside live traffic it is only a hint: a later payload may be overwriting the word.
  bool has_record() const;
  // Position of the next message, or of the one that peek() returned. Any thread; everything the consumer did
  // before it moved to this position has happened (acquire, pairs with the release in advance()).
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

// A record may need a pad before it. The line after it must be free too, because it may have to be cleared.
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
