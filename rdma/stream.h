// SPDX-License-Identifier: Apache-2.0
// A stream: one direction of records between two ends, over a queue pair of its own. What both halves agree
// on; the halves are producer.h and consumer.h. A record is a frame (transport/frame.h): header and payload.
//
//   producer's end                                     consumer's end
//   mirror  C bytes, read by the consumer              ring  C bytes, written by the producer
//   Line    published, waiting: read by the consumer
//   credit  written by the consumer
//   watch   written by the consumer
//
// Records have the same offset in mirror and ring, begin on a line of 64 bytes and never wrap: a pad record
// (its magic says so) fills the end. One of up to kStampedMax bytes leaves room for a stamp behind it.
// Positions are bytes since the start, multiples of 64, and never go back.
//
// Push. publish() WRITEs the record into the ring, with an immediate (as the completion has it, host order):
//   bit  31     hold, see below
//   bits 30-16  end of what is now in the ring, in lines mod 2^15
//   bits 15-0   what the poster has consumed of the opposite stream, in lines mod 2^16; never more than
//               2^16 - 1 lines beyond what the immediate before told, so that the differences add up
// An immediate guarantees that the bytes before it can be seen, and wakes who sleeps.
//
// Quiet push. A consumer that is not going to sleep looks for records in its memory as well, and WRITEs so
// into the watch word. While it says so publish() WRITEs a short record without an immediate: no receive and
// no completion at the consumer. Its stamp (stamp.h) shows that it is whole, and tells what the poster has
// consumed. Before it sleeps the consumer takes the word back and behind that READs the line: records that it
// tells of may be quiet ones, and are fetched. The producer publishes, fences, looks at the word; so whatever
// that READ does not tell of comes with an immediate. Meanwhile, as after a grant, pushes are only noted, and
// nobody looks into memory that a READ may be writing. Where a record is looked for in memory all before it
// have been found, so none with an immediate is found before its completion, and its receive posted again.
//
// Hold. When kPushedMax pushes are not known to be consumed the last of them says "hold", and epoch e begins:
// publish() stores Line::published, fences, looks at the credit; that is all. The consumer READs the line,
// and what it tells of, until it finds nothing new and has consumed everything: it WRITEs the credit with
// grant = e and behind it READs the line once more. A producer that sees its grant pushes again, beginning
// with the record at hand. Nothing is lost between the two: the producer publishes, fences, looks at the
// credit; the consumer writes the credit, then reads what is published. Pushes that come before that READ are
// noted and count when what it told of has been fetched, too. A record may so be fetched and pushed, and come
// twice, even while it is being handled: the bytes are the same, and the producer changes none of them before
// both the credit and the push's completion have come.
//
// Credit. consumed (in lines, low 48 bits) and grant (high 16). While the producer pushes, immediates and
// stamps of the opposite stream say what is consumed; the credit word is written for kTellBatches pushes or a
// quarter of the ring that they have not told of. Receives are posted anew kReceivesAtOnce at a time, and
// kPushedMax + 2 pushes at most are not known to be consumed: kConsumerReceives are always enough.
//
// Room. A producer that found none holds, stores a number in Line::waiting, fences, and looks at the credit
// again. The consumer, having read the line behind a write of the credit, answers each such number with one
// empty push the other way, the kick, which wakes the producer's end. The producer's end asks anew only when
// it has met the kick of its last question, so that kicks never lack a receive either. A consumer that has
// granted reads the line no more: a producer that finds its grant while it has no room holds anew, by an
// empty push.
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

inline constexpr std::uint32_t kPadMagic = 0x44415048;  // "HPAD", where a frame has its magic

inline constexpr std::uint32_t kHoldBit = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kEndMask = 0x7fff;
inline constexpr std::uint32_t kConsumedMask = 0xffff;

inline constexpr std::size_t kWatchOffset = sizeof(std::uint64_t);  // of the watch word, from the credit

inline constexpr unsigned kGrantShift = 48;
inline constexpr std::uint64_t kCreditMask = (std::uint64_t{1} << kGrantShift) - 1;

constexpr std::uint64_t round_to_lines(std::uint64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// What a record with so many bytes of header and payload takes of the ring.
constexpr std::uint64_t record_span(std::uint64_t bytes) {
  return round_to_lines(bytes <= kStampedMax ? bytes + kStampBytes : bytes);
}

constexpr std::uint32_t make_immediate(bool hold, std::uint64_t end, std::uint64_t consumed) {
  const auto end_lines = static_cast<std::uint32_t>(end / kLineBytes) & kEndMask;
  const auto consumed_lines = static_cast<std::uint32_t>(consumed / kLineBytes) & kConsumedMask;
  return (hold ? kHoldBit : 0) | end_lines << 16 | consumed_lines;
}

// What the consumer READs of the producer's end, in one piece.
struct Line {
  std::uint64_t published = 0;
  std::uint64_t waiting = 0;  // 0: nobody
};
static_assert(sizeof(Line) == 16);

// Memory of the other side.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

// Where the halves of a stream at one end have their memory; owned by the endpoint. `mirror` and `ring` have
// the stream's capacity, a power of two; `line`, `credit` and `fetched_line` lie on lines of their own.
struct ProducerMemory {
  std::span<std::byte> mirror;
  std::uint32_t mirror_key = 0;  // local
  std::byte* line = nullptr;     // a Line
  std::byte* credit = nullptr;   // two words: the credit, and whether the ring is watched
  RemoteMemory ring;
  std::uint64_t ring_secret = 0;  // of stamps
};
struct ConsumerMemory {
  std::span<std::byte> ring;
  std::uint32_t ring_key = 0;         // local
  std::uint64_t ring_secret = 0;      // of stamps
  std::byte* fetched_line = nullptr;  // where a Line is READ to
  std::byte* word_sources = nullptr;  // where credit and watch are written from, 8 bytes for each request
  std::uint32_t scratch_key = 0;      // local, of both
  RemoteMemory mirror;
  RemoteMemory line;
  RemoteMemory credit;
};

// How far a stream's consumer has come, for the producer of the opposite stream at the same end.
struct Progress {
  // Everything before has been handled. Written by the consumer: release, so that the producer may say so.
  std::atomic<std::uint64_t> consumed{0};
  // The peer has been told of so much, by either. Relaxed; that one may set it back costs a message at most.
  std::atomic<std::uint64_t> told{0};
};

inline std::atomic_ref<std::uint64_t> word_at(std::byte* memory) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory));
}

}  // namespace tf::rdma
