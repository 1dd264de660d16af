// SPDX-License-Identifier: Apache-2.0
// A stream: one direction of records between two ends, over a queue pair of its own. This header is what both
// halves agree on; the halves are producer.h and consumer.h. A record is a frame (transport/frame.h): header
// and payload.
//
//   producer's end                                     consumer's end
//   mirror  C bytes, read by the consumer              ring  C bytes, written by the producer
//   Line    published, waiting: read by the consumer
//   credit  written by the consumer
//   watch   written by the consumer
//
// Records have the same offset in mirror and ring, begin on a line of 64 bytes and never wrap: a pad record
// (marked by its magic) fills the end. A record of up to kStampedMax bytes leaves room for a stamp after it.
// Positions are bytes since the start, multiples of 64, and never decrease.
//
// Push. publish() WRITEs the record into the ring, with an immediate (as the completion has it, host order):
//   bit  31     hold, see below
//   bits 30-16  end of what is now in the ring, in lines mod 2^15
//   bits 15-0   what the poster has consumed of the opposite stream, in lines mod 2^16; at most 2^16 - 1
//               lines more than the immediate before said, so that the differences add up
// An immediate guarantees that the bytes before it are visible, and wakes a sleeper.
//
// Quiet push. A consumer that is not about to sleep also polls its memory for records, and says so with a
// WRITE to the watch word. Meanwhile publish() WRITEs a short record without an immediate: it costs the
// consumer no receive and no completion. Its stamp (stamp.h) shows that it is complete, and says what the
// poster has consumed. Before it sleeps, the consumer takes the word back, and READs the Line after that.
// Records that this Line announces may be quiet ones, and are fetched. The producer publishes, fences, then
// looks at the word; so every record that this READ does not announce comes with an immediate. Meanwhile, as
// after a grant, pushes are only noted, and nobody polls memory that a READ may be writing. A record is
// looked for in memory only after all records before it were found. So a record with an immediate is never
// found there before its completion came and its receive was posted again.
//
// Hold. When kPushedMax pushes are not known to be consumed, the last of them says "hold", and epoch e
// begins. From then on publish() only stores Line::published, fences, and looks at the credit. The consumer
// READs the Line, and what it announces, until it finds nothing new and has consumed everything. Then it
// WRITEs the credit with grant = e, and READs the Line once more after that. A producer that sees its grant
// pushes again, beginning with the current record. Nothing is lost between the two: the producer publishes,
// fences, looks at the credit; the consumer writes the credit, then reads what is published. Pushes that
// arrive before that READ are noted, and count once everything that the READ announced is fetched too. So a
// record may be both fetched and pushed, and arrive twice, even while it is being handled. The bytes are the
// same, and the producer changes none of them before both the credit and the push's completion have arrived.
//
// Credit. Consumed (in lines, low 48 bits) and grant (high 16). While the producer pushes, immediates and
// stamps of the opposite stream say what is consumed. The credit word is written once they have left
// kTellBatches pushes, or a quarter of the ring, unreported. Receives are posted again kReceivesAtOnce at a
// time, and at most kPushedMax + 2 pushes are not known to be consumed: kConsumerReceives are always enough.
//
// Room. A producer without room holds, stores a number in Line::waiting, fences, and looks at the credit
// again. When the consumer has read the Line after it wrote the credit, it answers each such number with one
// empty push the other way, the kick, which wakes the producer's end. The producer's end asks again only when
// it has received the kick for its last question, so kicks never lack a receive either. A consumer that has
// granted stops reading the Line. So a producer that finds its grant while it has no room holds again, with
// an empty push.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/frame.h"

namespace tf::rdma {

inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kStampBytes = 16;
inline constexpr std::size_t kStampedMax = 512 - kStampBytes;  // header and payload
inline constexpr std::size_t kRingLinesMax = 16384;            // so that an end mod 2^15 is either new or old
inline constexpr unsigned kPushedMax = 16;
inline constexpr unsigned kTellBatches = kPushedMax / 2;
inline constexpr unsigned kConsumerReceives = 32;
inline constexpr unsigned kReceivesAtOnce = 8;  // posted again
static_assert(kConsumerReceives - (kReceivesAtOnce - 1) >= kPushedMax + 2);
inline constexpr unsigned kKickReceives = 4;

inline constexpr std::uint32_t kPadMagic = 0x44415048;  // "HPAD", in place of a frame's magic

inline constexpr std::uint32_t kHoldBit = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kEndMask = 0x7fff;
inline constexpr std::uint32_t kConsumedMask = 0xffff;

inline constexpr std::size_t kWatchOffset = sizeof(std::uint64_t);  // of the watch word, from the credit

inline constexpr unsigned kGrantShift = 48;
inline constexpr std::uint64_t kCreditMask = (std::uint64_t{1} << kGrantShift) - 1;

constexpr std::uint64_t round_to_lines(std::uint64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// The bytes of the ring taken by a record with `bytes` of header and payload.
constexpr std::uint64_t record_span(std::uint64_t bytes) {
  return round_to_lines(bytes <= kStampedMax ? bytes + kStampBytes : bytes);
}

constexpr std::uint32_t make_immediate(bool hold, std::uint64_t end, std::uint64_t consumed) {
  const auto end_lines = static_cast<std::uint32_t>(end / kLineBytes) & kEndMask;
  const auto consumed_lines = static_cast<std::uint32_t>(consumed / kLineBytes) & kConsumedMask;
  return (hold ? kHoldBit : 0) | end_lines << 16 | consumed_lines;
}

// What the consumer READs from the producer's end, in one piece.
struct Line {
  std::uint64_t published = 0;
  std::uint64_t waiting = 0;  // 0: nobody
};
static_assert(sizeof(Line) == 16);

// Memory on the other side.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

// The memory of a stream's two halves at one end; the endpoint owns it. `mirror` and `ring` are as large as
// the stream's capacity, a power of two. `line`, `credit` and `fetched_line` each have a cache line of their
// own.
struct ProducerMemory {
  std::span<std::byte> mirror;
  std::uint32_t mirror_key = 0;  // local
  std::byte* line = nullptr;     // a Line
  std::byte* credit = nullptr;   // two words: the credit, and the watch word
  RemoteMemory ring;
  std::uint64_t ring_secret = 0;  // of stamps
};
struct ConsumerMemory {
  std::span<std::byte> ring;
  std::uint32_t ring_key = 0;         // local
  std::uint64_t ring_secret = 0;      // of stamps
  std::byte* fetched_line = nullptr;  // where a Line is READ to
  std::byte* word_sources = nullptr;  // source of credit and watch WRITEs, 8 bytes per request
  std::uint32_t scratch_key = 0;      // local, for both
  RemoteMemory mirror;
  RemoteMemory line;
  RemoteMemory credit;
};

// How far a stream's consumer has read, for the producer of the opposite stream at the same end.
struct Progress {
  // Everything before this position was handled. The consumer stores it with release, so that the producer
  // may report it.
  std::atomic<std::uint64_t> consumed{0};
  // The position reported to the peer, by consumer or producer. Relaxed: if one sets it back, that costs one
  // message at most.
  std::atomic<std::uint64_t> told{0};
};

inline std::atomic_ref<std::uint64_t> word_at(std::byte* memory) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory));
}

}  // namespace tf::rdma
