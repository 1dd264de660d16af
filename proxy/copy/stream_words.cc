// SPDX-License-Identifier: Apache-2.0
// Waits for streams by polling shared memory.
#include "proxy/copy/stream_words.h"

#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "proxy/stats/counting.h"
#include "transport/base/mutex.h"
#include "transport/base/pause.h"
#include "transport/base/spin.h"

namespace tf::proxy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kLooksBeforePause = 64;
// From then on poll less often: if others want the processor, and in any case later. A sleep takes up to 70
// us more than the device does, which a copy of a few milliseconds would show.
constexpr auto kShortWait = std::chrono::milliseconds(1);
constexpr auto kLongWait = std::chrono::milliseconds(10);
constexpr auto kYieldAlone = std::chrono::microseconds(3);  // after a longer yield another thread has run
constexpr auto kLongPause = std::chrono::microseconds(20);
constexpr auto kQuestion = std::chrono::milliseconds(20);  // then asks the worker whether there is still work

}  // namespace

// Acquire: the stream's earlier work is visible. The worker's store is a plain one after the data, by
// whatever the device is; x86 keeps their order.
bool StreamWord::done() const {
  const auto at = std::atomic_ref(const_cast<std::uint64_t&>(address)).load(std::memory_order_relaxed);
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(at)).load(std::memory_order_acquire) ==
         std::atomic_ref(const_cast<std::uint32_t&>(expected)).load(std::memory_order_relaxed);
}

void StreamWord::become(const StreamWord& other) {
  std::atomic_ref(address).store(other.address, std::memory_order_relaxed);
  std::atomic_ref(expected).store(other.expected, std::memory_order_relaxed);
}

bool StreamWords::ready() {
  const int state = state_.load(std::memory_order_acquire);  // pairs with set_up()
  return state != 0 ? state > 0 : set_up();
}

bool StreamWords::set_up() {
  if (window_.access() != protocol::HostAccess::kShared) return false;
  const MutexLock lock(mutex_);
  if (const int state = state_.load(std::memory_order_relaxed); state != 0) return state > 0;
  constexpr std::uint64_t kBytes = kStreamWordsMax * kStreamWordStride;
  std::uint64_t base = 0;
  const bool made = window_.allocate(kBytes, base) == hipSuccess;
  if (made) std::memset(reinterpret_cast<void*>(base), 0, kBytes);
  for (std::uint64_t at = 0; made && at < kBytes; at += kStreamWordStride) free_.push_back({base + at, 0});
  state_.store(made ? 1 : -1, std::memory_order_release);  // pairs with ready()
  return made;
}

hipError_t StreamWords::mark(const CopyMode& mode, StreamWord& word) {
  protocol::FillRequest request{};
  request.target = word.address;
  request.width = request.form = sizeof word.expected;
  request.stream = mode.stream;
  request.value = ++word.expected;
  // Not by post(): the word is not work to wait for.
  constexpr protocol::OpTraits kFill = protocol::kTraits<protocol::FillRequest>;
  return connection_.send(kFill, mode.device, protocol::wire_of(request), {});
}

// Host callbacks may hold the stream up, so messages are polled too. A stream that has failed may never fill
// the word: now and then the worker is asked.
hipError_t StreamWords::await(const StreamWord& word, int device, std::uint64_t stream) {
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

std::optional<hipError_t> StreamWords::wait(const CopyMode& mode) {
  if (!ready()) return std::nullopt;
  StreamWord word;
  {
    const MutexLock lock(mutex_);
    if (free_.empty()) return std::nullopt;
    word = free_.back();
    free_.pop_back();
  }
  hipError_t error = mark(mode, word);
  if (error == hipSuccess) error = await(word, mode.device, mode.stream);
  // An abandoned word may still be filled: it is not reused.
  if (error != hipSuccess) return error;
  if (!connection_.queue().poll()) error = kLostError;
  const MutexLock lock(mutex_);
  free_.push_back(word);
  return error;
}

}  // namespace tf::proxy
