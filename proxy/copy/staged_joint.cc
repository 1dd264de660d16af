// SPDX-License-Identifier: Apache-2.0
// Staged copies by several threads. The copy is cut into chunks, which the device takes one by one and which
// go through the buffers in turn. Chunks are cut into pieces, which helpers carry between the program's
// memory and the buffers. There are few chunks, since each costs the device a few microseconds more than its
// bytes do. The pieces are small, so that the first chunk is soon full and the last soon empty. The caller
// alone posts the device's part of each chunk, in order, since threads that take turns at the request queue
// hold each other up. Meanwhile it carries pieces that need no waiting.
//
// Between a copy and the word after it the device switches from one engine to another and back, which takes
// several microseconds. So only every few chunks to the device are followed by a word.
//
// A chunk's buffer changes hands. To the device: the caller has posted the chunk that used it before, and the
// device has read that (its word); helpers fill it; the caller posts it. From the device: the chunk before
// has been carried away; the caller posts the next; when its word is there, helpers carry it away.
//
// Copies go on where the one before ended, also within buffers that are larger than chunks: a device takes
// twice as long to write to lines that are still in the caches of the threads that carried from there
// (worker/copy/staging_slots.h).
#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "proxy/copy/on_device.h"
#include "proxy/copy/staged.h"
#include "transport/base/pause.h"
#include "transport/base/spin.h"
#include "transport/base/streaming_copy.h"

namespace tf::proxy {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

struct StagedCopies::JointCopy {
  StagedCopies& staging;
  // The caller holds copying_ for all threads until the copy ends.
  const std::span<Chunk> buffer_chunks;
  const std::span<Carried> carried_pieces;
  const CopyPlan& plan;  // of a line
  const std::uint64_t chunk_bytes;
  const std::uint64_t pieces_per_chunk;
  const bool streams;         // bypasses the caches; to the device
  const std::uint64_t first;  // chunks of copies before
  const bool up = plan.way == CopyWay::kToDevice;
  std::byte* const host = (up ? plan.box.source : plan.box.target).memory();
  const std::uint64_t device = (up ? plan.box.target : plan.box.source).address;
  const std::uint64_t bytes = plan.box.width;
  const std::uint64_t piece_bytes = chunk_bytes / pieces_per_chunk;
  const std::uint64_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
  const std::uint64_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
  const std::uint64_t buffers = buffer_chunks.size();

  const std::uint64_t chunks_per_word = up ? std::max<std::uint64_t>(buffers / 4, 1) : 1;
  std::uint64_t marked = 0;  // chunks; the caller's

  std::atomic<std::uint64_t> next{0};  // the first piece not taken yet; relaxed
  std::atomic<std::uint64_t> posted{
      0};  // `marked`, for helpers; written by the caller with release, for the words
  std::atomic<std::uint64_t> carried{0};  // pieces; release, for whoever waits for the end
  std::atomic<hipError_t> error{hipSuccess};

  // The function for CopyThreads: each thread carries the next piece.
  static void help(void* self, std::uint64_t) { static_cast<JointCopy*>(self)->help(); }
  static void lead(void* self) {
    auto& copy = *static_cast<JointCopy*>(self);
    copy.up ? copy.lead_up() : copy.lead_down();
  }

  Chunk& buffer(std::uint64_t chunk) { return buffer_chunks[(first + chunk) % buffers]; }
  // Of the chunk's bytes: its buffer has places for several chunks, which are used in turn.
  std::uint64_t address(std::uint64_t chunk) {
    const std::uint64_t places = kJointChunkBytesMax / chunk_bytes;
    return buffer(chunk).address + (first + chunk) / buffers % places * chunk_bytes;
  }
  std::uint64_t part(std::uint64_t chunk) const { return std::min(chunk_bytes, bytes - chunk * chunk_bytes); }
  // Whether all pieces of the chunk have been carried.
  bool is_carried(std::uint64_t chunk) {
    const std::uint64_t own = std::min(pieces_per_chunk, pieces - chunk * pieces_per_chunk);
    return carried_pieces[chunk % buffers].pieces.load(std::memory_order_acquire) >=  // pairs with carry()
           chunk / buffers * pieces_per_chunk + own;
  }
  bool failed() const { return error.load(std::memory_order_relaxed) != hipSuccess; }
  void fail(hipError_t seen) { error.store(seen, std::memory_order_relaxed); }

  bool may_carry(std::uint64_t chunk);
  void carry(std::uint64_t piece);
  bool carry_next_if_ready(std::uint64_t end);
  bool post(std::uint64_t chunk);
  void mark_through(std::uint64_t chunk);
  void await_device(std::uint64_t chunk);
  void help();
  void lead_up();
  void lead_down();
};

// Whether the chunk's buffer may be carried: the caller has posted what comes before, and the device is done.
bool StagedCopies::JointCopy::may_carry(std::uint64_t chunk) {
  const std::uint64_t before = !up ? chunk + 1 : chunk >= buffers ? chunk - buffers + 1 : 0;
  return posted.load(std::memory_order_acquire) >= before && buffer(chunk).word.done();  // pairs with post()
}

// REQUIRES: may_carry() of its chunk, and `next` has passed it.
void StagedCopies::JointCopy::carry(std::uint64_t piece) {
  const std::uint64_t chunk = piece / pieces_per_chunk;
  const std::uint64_t at = piece * piece_bytes;
  const std::uint64_t size = std::min(piece_bytes, bytes - at);
  auto* const there = reinterpret_cast<std::byte*>(address(chunk)) + (at - chunk * chunk_bytes);
  if (!up)
    std::memcpy(host + at, there, size);
  else if (streams)
    streaming_copy(there, host + at, size);
  else
    std::memcpy(there, host + at, size);
  carried_pieces[chunk % buffers].pieces.fetch_add(1,
                                                   std::memory_order_release);  // pairs with is_carried()
  carried.fetch_add(1, std::memory_order_release);                              // pairs with lead_down()
}

// The next piece, if it is below `end` and its buffer is ready.
bool StagedCopies::JointCopy::carry_next_if_ready(std::uint64_t end) {
  std::uint64_t piece = next.load(std::memory_order_relaxed);
  while (piece < end && may_carry(piece / pieces_per_chunk)) {
    if (!next.compare_exchange_weak(piece, piece + 1, std::memory_order_relaxed)) continue;
    carry(piece);
    return true;
  }
  return false;
}

void StagedCopies::JointCopy::help() {
  for (;;) {
    const auto start = Clock::now();
    while (!carry_next_if_ready(pieces)) {
      if (failed() || next.load(std::memory_order_relaxed) >= pieces) return;
      for (unsigned look = 0; look < kLooksPerClock; ++look) spin_pause();
      if (Clock::now() - start > kSpinAlone) std::this_thread::yield();
    }
  }
}

// REQUIRES: caller, and the chunk is posted
void StagedCopies::JointCopy::mark_through(std::uint64_t chunk) {
  const Chunk& last = buffer(chunk);
  if (const hipError_t seen = staging.mark(plan.mode, buffer(chunk)); seen != hipSuccess) fail(seen);
  for (; marked < chunk; ++marked) buffer(marked).word.become(last.own);
  marked = chunk + 1;
  posted.store(marked, std::memory_order_release);  // pairs with may_carry()
}

// REQUIRES: caller
bool StagedCopies::JointCopy::post(std::uint64_t chunk) {
  Chunk& own = buffer(chunk);
  const std::uint64_t far = device + chunk * chunk_bytes;
  const Box piece =
      up ? graph::line(far, address(chunk), part(chunk)) : graph::line(address(chunk), far, part(chunk));
  const hipError_t seen = staging.post(plan.mode, own, piece, Leaves::kWork);
  if (seen != hipSuccess) fail(seen);
  if (failed() || chunk + 1 == chunks || chunk + 1 - marked >= chunks_per_word) mark_through(chunk);
  return !failed();
}

// With deadlines and questions to the worker, which helpers leave to the caller.
void StagedCopies::JointCopy::await_device(std::uint64_t chunk) {
  if (const hipError_t seen = staging.await(buffer(chunk)); seen != hipSuccess) fail(seen);
}

void StagedCopies::JointCopy::lead_up() {
  std::uint64_t chunk = 0;
  while (chunk < chunks && !failed()) {
    if (is_carried(chunk)) {
      if (!post(chunk)) return;
      ++chunk;
    } else if (!carry_next_if_ready(std::min((chunk + 1) * pieces_per_chunk, pieces))) {
      // Leaves pieces of later chunks to others: a thread busy with one of them when this chunk is full would
      // post it late.
      const std::uint64_t wanted = next.load(std::memory_order_relaxed) / pieces_per_chunk;
      if (wanted == chunk && !may_carry(wanted))
        await_device(wanted);
      else
        spin_pause();
    }
  }
  // After a failure too: buffers that the device still reads must not count as free.
  if (chunk > marked) mark_through(chunk - 1);
}

void StagedCopies::JointCopy::lead_down() {
  std::uint64_t chunk = 0;
  while (carried.load(std::memory_order_acquire) < pieces && !failed()) {  // pairs with carry()
    if (chunk < chunks && (chunk < buffers || is_carried(chunk - buffers))) {
      if (chunk < buffers) await_device(chunk);  // an earlier copy's use of it, on this stream
      if (failed() || !post(chunk)) return;
      ++chunk;
    } else if (!carry_next_if_ready(pieces)) {
      const std::uint64_t wanted = next.load(std::memory_order_relaxed) / pieces_per_chunk;
      if (wanted < chunk)
        await_device(wanted);
      else
        spin_pause();
    }
  }
}

bool StagedCopies::set_up_joint() {
  if (!joint_chunks_.empty()) return true;
  if (joint_impossible_) return false;
  std::vector<Chunk> chunks((threads_.helpers() + 1) * kJointChunksPerThread);
  joint_impossible_ = !allocate_chunks(kJointChunkBytesMax, chunks);
  if (joint_impossible_) return false;
  carried_ = std::vector<Carried>(chunks.size());
  joint_chunks_ = std::move(chunks);
  return true;
}

std::optional<hipError_t> StagedCopies::jointly(const CopyPlan& plan) {
  const std::uint64_t threads = threads_.helpers() + 1;
  const std::uint64_t bytes = plan.box.width;
  if (threads == 1 || !plan.box.is_line() || bytes < kJointCopyBytesMin || !set_up_joint())
    return std::nullopt;
  constexpr std::uint64_t kPageBytes = 4096;
  const std::uint64_t least =
      plan.way == CopyWay::kToDevice ? kJointChunkUpBytesMin : kJointChunkDownBytesMin;
  const std::uint64_t chunk_bytes =
      std::clamp(bytes / kJointChunks & ~(kPageBytes - 1), least, kJointChunkBytesMax);
  const std::uint64_t pieces = std::clamp<std::uint64_t>(chunk_bytes / kJointPieceBytesMin, 1, threads);
  JointCopy copy{.staging = *this,
                 .buffer_chunks = joint_chunks_,
                 .carried_pieces = carried_,
                 .plan = plan,
                 .chunk_bytes = (chunk_bytes / pieces & ~(kPageBytes - 1)) * pieces,
                 .pieces_per_chunk = pieces,
                 .streams = threads >= kStreamingThreadsMin && bytes <= kStreamingBytesMax,
                 .first = joint_turn_};
  for (Carried& carried : carried_) carried.pieces.store(0, std::memory_order_relaxed);
  if (!threads_.together(threads, &JointCopy::help, &copy, &JointCopy::lead)) return std::nullopt;
  joint_turn_ += copy.chunks;
  return copy.error.load(std::memory_order_relaxed);
}

}  // namespace tf::proxy
