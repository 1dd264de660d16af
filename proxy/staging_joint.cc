// SPDX-License-Identifier: Apache-2.0
// The copies of Staging that several threads make. The copy is cut into chunks that go through the buffers in
// turn. Helpers carry chunks between the program's memory and the buffers. The caller posts the device's part
// of each, in order and alone, since threads that take turns at the request queue hold each other up;
// meanwhile it carries chunks that need no waiting.
//
// Between a copy and the word behind it the device changes from one of its engines to another and back,
// several microseconds: so only every few chunks that go to the device are followed by one.
//
// A chunk's buffer passes from hand to hand: to the device, the caller has posted the chunk that used it
// before and the device has read that (its word); a helper fills it; the caller posts it. From the device,
// the chunk before has been carried away; the caller posts the next; when its word is there a helper carries
// it away.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "proxy/custom/copy_engine.h"
#include "proxy/session.h"
#include "proxy/staging.h"
#include "transport/wakeup.h"

namespace tf::proxy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kLooksPerClock = 32;

}  // namespace

struct Staging::JointCopy {
  Staging& staging;
  const CopyMode& mode;
  const Direction direction;
  std::byte* const host;
  const std::uint64_t device;
  const std::uint64_t bytes;
  const std::uint64_t chunk_bytes;
  const std::uint64_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
  const std::uint64_t buffers = staging.joint_chunks_.size();

  const std::uint64_t chunks_per_word =
      direction == Direction::kToDevice ? std::max<std::uint64_t>(buffers / 4, 1) : 1;
  std::uint64_t marked = 0;  // chunks; the caller's

  std::atomic<std::uint64_t> next{0};  // the first chunk that nobody carries yet; relaxed
  std::atomic<std::uint64_t> posted{
      0};  // `marked`, for helpers; written by the caller with release, for the words
  std::atomic<std::uint64_t> carried{0};  // chunks, from the device; release, for whoever waits for the end
  std::atomic<hipError_t> error{hipSuccess};

  // CopyThreads' pieces: all are alike, each carries whatever chunk is next.
  static void help(void* self, std::uint64_t) { static_cast<JointCopy*>(self)->help(); }
  static void lead(void* self) {
    auto& copy = *static_cast<JointCopy*>(self);
    copy.direction == Direction::kToDevice ? copy.lead_up() : copy.lead_down();
  }

  Chunk& buffer(std::uint64_t chunk) { return staging.joint_chunks_[chunk % buffers]; }
  std::atomic<std::uint64_t>& turn(std::uint64_t chunk) { return staging.carried_[chunk % buffers].turn; }
  std::uint64_t part(std::uint64_t chunk) const { return std::min(chunk_bytes, bytes - chunk * chunk_bytes); }
  bool failed() const { return error.load(std::memory_order_relaxed) != hipSuccess; }
  void fail(hipError_t seen) { error.store(seen, std::memory_order_relaxed); }

  bool may_carry(std::uint64_t chunk);
  void carry(std::uint64_t chunk);
  bool carry_next_if_ready();
  bool post(std::uint64_t chunk);
  void mark_through(std::uint64_t chunk);
  void await_device(std::uint64_t chunk);
  void help();
  void lead_up();
  void lead_down();
};

// Whether the chunk's buffer is the carrier's: the caller has posted what comes before, and the device is
// done.
bool Staging::JointCopy::may_carry(std::uint64_t chunk) {
  const std::uint64_t before = direction == Direction::kFromDevice ? chunk + 1
                               : chunk >= buffers                  ? chunk - buffers + 1
                                                                   : 0;
  return posted.load(std::memory_order_acquire) >= before && buffer(chunk).word.done();  // pairs with post()
}

// REQUIRES: may_carry(chunk), and `next` has passed it.
void Staging::JointCopy::carry(std::uint64_t chunk) {
  std::byte* const here = host + chunk * chunk_bytes;
  std::byte* const there = staging.memory(buffer(chunk));
  if (direction == Direction::kToDevice)
    std::memcpy(there, here, part(chunk));
  else
    std::memcpy(here, there, part(chunk));
  turn(chunk).store(chunk + 1, std::memory_order_release);  // pairs with the caller's look at it
  carried.fetch_add(1, std::memory_order_release);          // pairs with lead_down()
}

bool Staging::JointCopy::carry_next_if_ready() {
  std::uint64_t chunk = next.load(std::memory_order_relaxed);
  while (chunk < chunks && may_carry(chunk)) {
    if (!next.compare_exchange_weak(chunk, chunk + 1, std::memory_order_relaxed)) continue;
    carry(chunk);
    return true;
  }
  return false;
}

void Staging::JointCopy::help() {
  for (;;) {
    const auto start = Clock::now();
    while (!carry_next_if_ready()) {
      if (failed() || next.load(std::memory_order_relaxed) >= chunks) return;
      for (unsigned look = 0; look < kLooksPerClock; ++look) spin_pause();
      if (Clock::now() - start > kSpinAlone) spin_yield();
    }
  }
}

// REQUIRES: caller, and the chunk is posted
void Staging::JointCopy::mark_through(std::uint64_t chunk) {
  const Chunk& last = buffer(chunk);
  if (const hipError_t seen = staging.mark(mode, buffer(chunk)); seen != hipSuccess) fail(seen);
  for (; marked < chunk; ++marked) buffer(marked).word.become(last.own);
  marked = chunk + 1;
  posted.store(marked, std::memory_order_release);  // pairs with may_carry()
}

// REQUIRES: caller
bool Staging::JointCopy::post(std::uint64_t chunk) {
  Chunk& own = buffer(chunk);
  const std::uint64_t far = device + chunk * chunk_bytes;
  const bool up = direction == Direction::kToDevice;
  hipError_t seen =
      staging.post_chunk(mode, own, up ? far : own.address, up ? own.address : far, part(chunk));
  if (seen != hipSuccess) fail(seen);
  if (failed() || chunk + 1 == chunks || chunk + 1 - marked >= chunks_per_word) mark_through(chunk);
  return !failed();
}

// With deadlines and questions, which helpers leave to the caller.
void Staging::JointCopy::await_device(std::uint64_t chunk) {
  const Chunk& own = buffer(chunk);
  if (const hipError_t seen = staging.await(own.word, own.device, own.stream); seen != hipSuccess) fail(seen);
}

void Staging::JointCopy::lead_up() {
  std::uint64_t chunk = 0;
  while (chunk < chunks && !failed()) {
    if (turn(chunk).load(std::memory_order_acquire) == chunk + 1) {  // pairs with carry()
      if (!post(chunk)) return;
      ++chunk;
    } else if (!carry_next_if_ready()) {
      // Either a helper is at it, or all wait for the device to read a buffer: of a chunk that is posted.
      const std::uint64_t wanted = next.load(std::memory_order_relaxed);
      if (wanted == chunk)
        await_device(wanted);
      else
        spin_pause();
    }
  }
  // After a failure too: what the device still reads must not be taken for free.
  if (chunk > marked) mark_through(chunk - 1);
}

void Staging::JointCopy::lead_down() {
  std::uint64_t chunk = 0;
  while (carried.load(std::memory_order_acquire) < chunks && !failed()) {  // pairs with carry()
    const bool is_free =
        chunk < buffers || turn(chunk).load(std::memory_order_acquire) == chunk - buffers + 1;
    if (chunk < chunks && is_free) {
      if (chunk < buffers) await_device(chunk);  // what a copy before did with it, on this stream
      if (failed() || !post(chunk)) return;
      ++chunk;
    } else if (!carry_next_if_ready()) {
      const std::uint64_t wanted = next.load(std::memory_order_relaxed);
      if (wanted < chunk)
        await_device(wanted);
      else
        spin_pause();
    }
  }
}

// REQUIRES: copying_ is held
bool Staging::set_up_joint() {
  if (!joint_chunks_.empty()) return true;
  if (joint_impossible_) return false;
  std::vector<Chunk> chunks((session_.copy_threads().helpers() + 1) * kJointChunksPerThread);
  std::uint64_t word = 0;
  joint_impossible_ = !allocate_chunks(kJointChunkBytesMax, chunks, 0, word);
  if (joint_impossible_) return false;
  carried_ = std::vector<Carried>(chunks.size());
  joint_chunks_ = std::move(chunks);
  return true;
}

bool Staging::jointly(const CopyMode& mode, Direction direction, std::byte* host, std::uint64_t device,
                      std::uint64_t bytes, hipError_t& error) {
  const std::uint64_t threads = session_.copy_threads().helpers() + 1;
  if (threads == 1 || bytes < kJointCopyBytesMin || !set_up_joint()) return false;
  constexpr std::uint64_t kPageBytes = 4096;
  const std::uint64_t fair = bytes / (threads * 2) & ~(kPageBytes - 1);
  JointCopy copy{.staging = *this,
                 .mode = mode,
                 .direction = direction,
                 .host = host,
                 .device = device,
                 .bytes = bytes,
                 .chunk_bytes = std::clamp<std::uint64_t>(fair, kJointChunkBytesMin, kJointChunkBytesMax)};
  for (Carried& carried : carried_) carried.turn.store(0, std::memory_order_relaxed);
  if (!session_.copy_threads().together(threads, &JointCopy::help, &copy, &JointCopy::lead)) return false;
  error = copy.error.load(std::memory_order_relaxed);
  return true;
}

}  // namespace tf::proxy
