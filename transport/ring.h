// SPDX-License-Identifier: Apache-2.0
// A record ring with one producer and one consumer, in memory that the caller provides and that may be
// shared with a hostile process.
//
//   offset  size      who writes   what
//   0       8         creator      magic | layout version
//   8       8         creator      capacity: bytes of the data area, a power of two
//   128     8         producer     (private block of the producer: nothing shared but its cache line)
//   256     8         consumer     consumed: position up to which the data area may be overwritten
//   384     capacity  producer     records
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
// by the producer before it overwrites. The producer caches it; the consumer stores it every quarter of the
// ring and whenever it finds nothing more to read.
//
// The producer side and the consumer side may be used by one thread each, concurrently.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/status.h"

namespace tf {

inline constexpr std::size_t kRingLineBytes = 64;
inline constexpr std::size_t kRingHeaderBytes = 384;
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
  // Space for a message of `bytes`; empty when the consumer is behind. kProtocol once the consumer's position
  // makes no sense. REQUIRES: 0 < bytes <= bytes_max(), no slot out.
  Result<std::span<std::byte>> reserve(std::size_t bytes);
  void publish();
  void abandon() { reserved_ = 0; }
  // True when the last reserve() found no room and there is some now.
  bool room_for(std::size_t bytes) const;

 private:
  bool refresh_consumed() const;

  RingView ring_;
  std::uint64_t position_ = 0;
  mutable std::uint64_t consumed_ = 0;  // cached
  mutable bool broken_ = false;
  std::size_t reserved_ = 0;
};

class RingConsumer {
 public:
  explicit RingConsumer(RingView ring) : ring_(ring) {}

  // The oldest message not consumed yet, in place; none when the ring is empty; kProtocol when what stands
  // there is no record.
  Result<std::optional<std::span<const std::byte>>> peek();
  // Done with the message that peek() gave.
  void consume();
  // Gives the producer all room back now.
  void release();
  // Something may be there. Cheap; for waiters.
  bool has_record() const;

 private:
  RingView ring_;
  std::uint64_t position_ = 0;
  std::uint64_t released_ = 0;
  std::size_t current_ = 0;  // bytes of ring that peek()'s record takes
};

}  // namespace tf
