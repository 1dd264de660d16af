// SPDX-License-Identifier: Apache-2.0
// Cuts large copies into pieces for the caller and its helper threads.
#include "proxy/copy/copy_threads.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "proxy/base/log.h"
#include "transport/base/thread.h"
#include "transport/base/pause.h"
#include "transport/base/processor.h"

namespace tf::proxy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::hours kHelperSleep{1};  // woken if there is something to copy

// Whole pages.
std::uint64_t piece_bytes_of(std::uint64_t bytes, std::uint64_t threads) {
  constexpr std::uint64_t kPageBytes = 4096;
  const std::uint64_t wanted = bytes / (threads * kPiecesPerThread);
  return std::clamp(wanted, kPieceBytesMin, kPieceBytesMax) & ~(kPageBytes - 1);
}

bool overlap(const std::byte* target, const std::byte* source, std::uint64_t bytes) {
  const auto to = reinterpret_cast<std::uintptr_t>(target);
  const auto from = reinterpret_cast<std::uintptr_t>(source);
  return to < from ? from - to < bytes : to - from < bytes;
}

// A copy between memory of this process.
struct Pieces {
  std::byte* target;
  const std::byte* source;
  std::uint64_t bytes;
  std::uint64_t piece_bytes;

  static void copy(void* self, std::uint64_t piece) {
    const Pieces& all = *static_cast<const Pieces*>(self);
    const std::uint64_t at = piece * all.piece_bytes;
    std::memcpy(all.target + at, all.source + at, std::min(all.piece_bytes, all.bytes - at));
  }
};

// Programs that protect their pages handle the fault in any thread: a helper that blocked the signal would
// end the process instead.
void let_faults_be_handled() {
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

}  // namespace

CopyThreads::CopyThreads(unsigned helpers) : helpers_(std::min(helpers, kCopyThreadsMax - 1)) {}

CopyThreads::~CopyThreads() {
  ended_.store(true, std::memory_order_release);  // pairs with await_job()
  bell_.wake(kRingMessages);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void CopyThreads::leave() {
  if (!copying_.try_lock()) return;  // a copy is running, perhaps in the thread that ends the process
  const MutexLock lock(copying_, std::adopt_lock);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.detach();
}

unsigned CopyThreads::helpers_to_spare() {
  const unsigned processors = usable_processors();
  return processors <= 2 ? 0 : std::min(processors / 2 - 1, kCopyHelpersUnaskedMax);
}

void CopyThreads::copy(void* target, const void* source, std::uint64_t bytes) {
  auto* const to = static_cast<std::byte*>(target);
  const auto* const from = static_cast<const std::byte*>(source);
  if (!worth(bytes) || overlap(to, from, bytes)) {
    std::memmove(target, source, bytes);
    return;
  }
  Pieces pieces{to, from, bytes, piece_bytes_of(bytes, helpers_ + 1)};
  const std::uint64_t count = (bytes + pieces.piece_bytes - 1) / pieces.piece_bytes;
  if (!together(count, &Pieces::copy, &pieces)) std::memmove(target, source, bytes);
}

bool CopyThreads::together(std::uint64_t pieces, void (*work)(void*, std::uint64_t), void* context,
                           void (*lead)(void*)) {
  if (!copying_.try_lock()) return false;
  const MutexLock lock(copying_, std::adopt_lock);
  if (!start()) return false;
  share(pieces, work, context, lead);
  return true;
}

bool CopyThreads::start() {
  if (!started_) {
    started_ = true;
    threads_.reserve(helpers_);
    for (unsigned helper = 0; helper < helpers_; ++helper) {
      std::thread thread;
      if (!start_thread(thread, "hip-copy", [this] { help(); })) break;
      threads_.push_back(std::move(thread));
    }
    log_debug(std::to_string(threads_.size()) + " thread(s) help with large copies");
  }
  return !threads_.empty();
}

void CopyThreads::share(std::uint64_t pieces, void (*work)(void*, std::uint64_t), void* context,
                        void (*lead)(void*)) {
  const std::uint64_t number =
      (turn_.load(std::memory_order_relaxed) >> 32) + 1;  // only written under the lock
  // Release, each: a thread that sees any of these sees that the previous job is closed (do_next_piece()).
  turn_.store(number << 32 | kNotYet, std::memory_order_release);
  job_.work.store(work, std::memory_order_release);
  job_.context.store(context, std::memory_order_release);
  job_.pieces.store(pieces, std::memory_order_release);
  pieces_done_.store(0, std::memory_order_relaxed);
  turn_.store(number << 32, std::memory_order_release);
  bell_.ring(kRingMessages);
  if (lead != nullptr) lead(context);
  while (do_next_piece()) {
  }
  // The rest is with helpers, any of which may have lost its processor.
  const auto start = Clock::now();
  while (pieces_done_.load(std::memory_order_acquire) != pieces) {  // pairs with do_next_piece()
    for (unsigned look = 0; look < kLooksPerClock; ++look) spin_pause();
    if (Clock::now() - start > kSpinAlone) std::this_thread::yield();
  }
}

// Acquire, each: pairs with share().
bool CopyThreads::is_open() const {
  return (turn_.load(std::memory_order_acquire) & kPieceMask) < job_.pieces.load(std::memory_order_acquire);
}

// False: there is none.
bool CopyThreads::do_next_piece() {
  std::uint64_t turn = turn_.load(std::memory_order_acquire);
  for (;;) {
    // Acquire, each: if any of these belonged to a later job, the exchange would find that this one is
    // closed.
    const auto work = job_.work.load(std::memory_order_acquire);
    void* const context = job_.context.load(std::memory_order_acquire);
    const std::uint64_t piece = turn & kPieceMask;
    if (piece >= job_.pieces.load(std::memory_order_acquire)) return false;
    if (!turn_.compare_exchange_weak(turn, turn + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    work(context, piece);
    pieces_done_.fetch_add(1, std::memory_order_release);  // pairs with share()
    return true;
  }
}

void CopyThreads::help() {
  let_faults_be_handled();
  while (!ended_.load(std::memory_order_acquire)) {
    while (do_next_piece()) pieces_helped_.fetch_add(1, std::memory_order_relaxed);
    await_job();
  }
}

// Polls for a while, then sleeps.
void CopyThreads::await_job() {
  const auto over = [this] { return is_open() || ended_.load(std::memory_order_acquire); };
  const auto start = Clock::now();
  bool found = false;
  for (Spin spin(spin_, start); !found && spin.go_on(Clock::now());) {
    for (unsigned look = 0; look < kLooksPerClock && !found; ++look) {
      found = over();
      spin_pause();
    }
  }
  if (!found) {
    const std::uint32_t seen = bell_.prepare(kRingMessages);
    if (over())
      bell_.cancel(kRingMessages);
    else
      bell_.sleep(seen, kHelperSleep, kRingMessages);
  }
  spin_.learn(Clock::now() - start);
}

}  // namespace tf::proxy
