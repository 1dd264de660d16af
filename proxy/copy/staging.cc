// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/staging.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "proxy/copy/copy_engine.h"
#include "proxy/stats/counting.h"
#include "transport/base/pause.h"
#include "transport/base/spin.h"

namespace tf::proxy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kWordStride = 64;  // a line each
constexpr unsigned kLooksBeforePause = 64;
// From then on look less often: where others want the processor, and anyhow. A sleep takes up to 70 us more
// than the device does, which a copy of a few milliseconds would show.
constexpr auto kShortWait = std::chrono::milliseconds(1);
constexpr auto kLongWait = std::chrono::milliseconds(10);
constexpr auto kYieldAlone =
    std::chrono::microseconds(3);  // a yield that takes longer let another thread run
constexpr auto kLongPause = std::chrono::microseconds(20);
constexpr auto kQuestion = std::chrono::milliseconds(20);  // ask the worker whether there is still work

}  // namespace

// Acquire: what the stream did before is seen. The worker's store is a plain one behind the data, by whatever
// the device is; x86 keeps their order.
bool Staging::DoneWord::done() const {
  const auto at = std::atomic_ref(const_cast<std::uint64_t&>(address)).load(std::memory_order_relaxed);
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(at)).load(std::memory_order_acquire) ==
         std::atomic_ref(const_cast<std::uint32_t&>(expected)).load(std::memory_order_relaxed);
}

void Staging::DoneWord::become(const DoneWord& other) {
  std::atomic_ref(address).store(other.address, std::memory_order_relaxed);
  std::atomic_ref(expected).store(other.expected, std::memory_order_relaxed);
}

bool Staging::ready() {
  const int state = state_.load(std::memory_order_acquire);  // pairs with set_up()
  return state != 0 ? state > 0 : set_up();
}

// Buffers of `bytes` each, and `words` words from `word` on besides theirs.
bool Staging::allocate_chunks(std::uint64_t bytes, std::span<Chunk> chunks, std::uint64_t words,
                              std::uint64_t& word) {
  const std::uint64_t words_bytes = (chunks.size() + words) * kWordStride;
  std::uint64_t base = 0;
  if (window_.allocate(chunks.size() * bytes + words_bytes, base) != hipSuccess) return false;
  word = base + chunks.size() * bytes;
  std::memset(reinterpret_cast<void*>(word), 0, words_bytes);
  for (Chunk& chunk : chunks) {
    chunk.address = base;
    chunk.own.address = chunk.word.address = word;
    base += bytes;
    word += kWordStride;
  }
  return true;
}

bool Staging::set_up() {
  if (window_.access() != protocol::HostAccess::kShared) return false;
  const std::lock_guard lock(copying_);
  if (const int state = state_.load(std::memory_order_relaxed); state != 0) return state > 0;
  std::uint64_t word = 0;
  const bool made = allocate_chunks(kStagingChunkBytes, chunks_, kDoneWordsMax, word);
  for (std::size_t i = 0; made && i < kDoneWordsMax; ++i, word += kWordStride)
    free_words_.push_back({word, 0});
  state_.store(made ? 1 : -1, std::memory_order_release);  // pairs with ready()
  return made;
}

// The word will hold a value it has not held lately once the stream is there.
hipError_t Staging::mark(const CopyMode& mode, DoneWord& word) {
  protocol::FillRequest request{};
  request.target = word.address;
  request.width = request.element_bytes = sizeof word.expected;
  request.stream = mode.stream;
  request.value = ++word.expected;
  // Not by post(): the word is no work to wait for.
  constexpr protocol::OpTraits kFill = protocol::kTraits<protocol::FillRequest>;
  return connection_.send(kFill, mode.device, std::as_bytes(std::span(&request, 1)), {});
}

hipError_t Staging::mark(const CopyMode& mode, Chunk& chunk) {
  const hipError_t error = mark(mode, chunk.own);
  chunk.word.become(chunk.own);
  return error;
}

hipError_t Staging::post_chunk(const CopyMode& mode, Chunk& chunk, std::uint64_t target, std::uint64_t source,
                               std::uint64_t bytes) {
  chunk.device = mode.device;
  chunk.stream = mode.stream;
  return post_copy(connection_, mode, target, source, bytes);
}

hipError_t Staging::move(const CopyMode& mode, Chunk& chunk, std::uint64_t target, std::uint64_t source,
                         std::uint64_t bytes) {
  const hipError_t error = post_chunk(mode, chunk, target, source, bytes);
  return error != hipSuccess ? error : mark(mode, chunk);
}

// Host callbacks may hold the stream up, so messages are looked for too. A stream that has failed may never
// fill the word: now and then the worker is asked.
hipError_t Staging::await(const DoneWord& word, int device, std::uint64_t stream) {
  if (word.done()) return hipSuccess;
  const stats::WaitScope waiting(stats::Wait::kWord);
  for (unsigned look = 0; look < kLooksBeforePause; ++look)
    if (word.done()) return hipSuccess;
  const auto start = Clock::now();
  auto question = start + kQuestion;
  bool others_run = false;
  for (;;) {
    for (unsigned look = 0; look < kLooksPerClock; ++look) {
      if (word.done()) return hipSuccess;
      spin_pause();
    }
    if (connection_.lost() || !connection_.queue().poll()) return kLostError;
    const auto now = Clock::now();
    if (now - start > kLongWait || (now - start > kShortWait && others_run)) {
      std::this_thread::sleep_for(kLongPause);
    } else if (now - start > kSpinAlone) {
      std::this_thread::yield();
      others_run = Clock::now() - now > kYieldAlone;
    }
    if (now < question) continue;
    question = now + kQuestion;
    protocol::QueryStreamRequest request{};
    request.stream = stream;
    const hipError_t error = connection_.call(device, request);
    if (error == hipErrorNotReady) continue;
    if (word.done()) return hipSuccess;
    return error != hipSuccess ? error : hipErrorUnknown;
  }
}

// The buffers, for a copy on this stream. What other streams still do with them is not waited for: it may
// depend on what this thread does next. Nor is this stream, by a call that need not wait.
bool Staging::claim(const CopyMode& mode, std::unique_lock<std::mutex>& lock) {
  if (!ready()) return false;
  lock = std::unique_lock(copying_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const auto usable = [&](const Chunk& chunk) {
    return chunk.word.done() || (mode.wait && chunk.stream == mode.stream && chunk.device == mode.device);
  };
  return std::all_of(chunks_.begin(), chunks_.end(), usable) &&
         std::all_of(joint_chunks_.begin(), joint_chunks_.end(), usable);
}

Staging::Outcome Staging::to_device(const CopyMode& mode, std::uint64_t target, const void* source,
                                    std::uint64_t bytes, hipError_t& error) {
  std::unique_lock<std::mutex> lock;
  if (!claim(mode, lock)) return Outcome::kNotTaken;
  const auto* from = static_cast<const std::byte*>(source);
  constexpr std::uint64_t whole = kStagingChunkBytes;
  error = hipSuccess;
  if (jointly(mode, Direction::kToDevice, const_cast<std::byte*>(from), target, bytes, error))
    return Outcome::kDone;
  for (std::uint64_t at = 0; at < bytes && error == hipSuccess; at += whole) {
    Chunk& chunk = chunks_[turn_++ % kStagingChunks];
    const std::uint64_t part = std::min(whole, bytes - at);
    error = await(chunk.word, chunk.device, chunk.stream);
    if (error != hipSuccess) break;
    std::memcpy(memory(chunk), from + at, part);
    error = move(mode, chunk, target + at, chunk.address, part);
  }
  return Outcome::kDone;
}

Staging::Outcome Staging::from_device(const CopyMode& mode, void* target, std::uint64_t source,
                                      std::uint64_t bytes, hipError_t& error) {
  std::unique_lock<std::mutex> lock;
  if (!claim(mode, lock)) return Outcome::kNotTaken;
  auto* to = static_cast<std::byte*>(target);
  error = hipSuccess;
  if (jointly(mode, Direction::kFromDevice, to, source, bytes, error)) return Outcome::kDone;
  constexpr std::uint64_t whole = kStagingChunkBytes;
  const std::uint64_t chunks = (bytes + whole - 1) / whole;
  const auto part = [&](std::uint64_t n) { return std::min(whole, bytes - n * whole); };
  const std::size_t first = turn_;
  turn_ += chunks;
  std::uint64_t asked = 0;
  for (std::uint64_t landed = 0; landed < chunks && error == hipSuccess; ++landed) {
    for (; asked < chunks && asked < landed + kStagingChunks && error == hipSuccess; ++asked) {
      Chunk& next = chunks_[(first + asked) % kStagingChunks];
      error = await(next.word, next.device, next.stream);
      if (error == hipSuccess) error = move(mode, next, next.address, source + asked * whole, part(asked));
    }
    const Chunk& chunk = chunks_[(first + landed) % kStagingChunks];
    if (error == hipSuccess) error = await(chunk.word, chunk.device, chunk.stream);
    if (error == hipSuccess) std::memcpy(to + landed * whole, memory(chunk), part(landed));
  }
  return Outcome::kDone;
}

Staging::Outcome Staging::wait(const CopyMode& mode, hipError_t& error) {
  if (!ready()) return Outcome::kNotTaken;
  DoneWord word;
  {
    const std::lock_guard lock(words_mutex_);
    if (free_words_.empty()) return Outcome::kNotTaken;
    word = free_words_.back();
    free_words_.pop_back();
  }
  error = mark(mode, word);
  if (error == hipSuccess) error = await(word, mode.device, mode.stream);
  // One that was given up may still be filled: it is not used again.
  if (error != hipSuccess) return Outcome::kDone;
  if (!connection_.queue().poll()) error = kLostError;
  const std::lock_guard lock(words_mutex_);
  free_words_.push_back(word);
  return Outcome::kDone;
}

}  // namespace tf::proxy
