// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy_threads.h"

#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "proxy/log.h"
#include "proxy/thread.h"

namespace tf::proxy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kLooksPerClock = 32;
constexpr std::chrono::hours kHelperSleep{1};  // woken when there is something to copy

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

// Programs that guard their pages handle the fault wherever they are touched: a helper that blocked the
// signal would end the process instead.
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
  ended_.store(true, std::memory_order_release);  // pairs with await_copy()
  bell_.wake(kRingMessages);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void CopyThreads::leave() {
  const std::unique_lock lock(copying_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // a copy is under way, perhaps in the thread that ends the process
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.detach();
}

unsigned CopyThreads::helpers_to_spare() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  const auto processors = static_cast<unsigned>(CPU_COUNT(&allowed));
  return processors <= 2 ? 0 : std::min(processors / 2 - 1, kCopyHelpersUnaskedMax);
}

void CopyThreads::copy(void* target, const void* source, std::uint64_t bytes) {
  if (worth(bytes) && !overlap(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes))
    copy_part(target, source, bytes);
  else
    std::memmove(target, source, bytes);
}

void CopyThreads::copy_part(void* target, const void* source, std::uint64_t bytes) {
  const std::unique_lock lock(copying_, std::try_to_lock);
  if (lock.owns_lock() && start())
    share(static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes);
  else
    std::memcpy(target, source, bytes);
}

// REQUIRES: copying_ is held
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

// REQUIRES: copying_ is held
void CopyThreads::share(std::byte* target, const std::byte* source, std::uint64_t bytes) {
  const std::uint64_t number =
      (turn_.load(std::memory_order_relaxed) >> 32) + 1;  // only written under the lock
  // Release, each: who sees any of it sees that the copy before is closed (copy_next_piece()).
  turn_.store(number << 32 | kNotYet, std::memory_order_release);
  work_.target.store(target, std::memory_order_release);
  work_.source.store(source, std::memory_order_release);
  work_.bytes.store(bytes, std::memory_order_release);
  work_.piece_bytes.store(piece_bytes_of(bytes, threads_.size() + 1), std::memory_order_release);
  pieces_done_.store(0, std::memory_order_relaxed);
  turn_.store(number << 32, std::memory_order_release);
  bell_.ring(kRingMessages);
  while (copy_next_piece()) {
  }
  // What is left is in the hands of helpers, each of which may have lost its processor.
  const std::uint64_t pieces = work_.pieces();
  const auto start = Clock::now();
  while (pieces_done_.load(std::memory_order_acquire) != pieces) {  // pairs with copy_next_piece()
    for (unsigned look = 0; look < kLooksPerClock; ++look) spin_pause();
    if (Clock::now() - start > kSpinAlone) spin_yield();
  }
}

// Acquire, each: pairs with share().
std::uint64_t CopyThreads::Work::pieces() const {
  const std::uint64_t piece = piece_bytes.load(std::memory_order_acquire);
  return (bytes.load(std::memory_order_acquire) + piece - 1) / piece;
}

bool CopyThreads::is_open() const {
  return (turn_.load(std::memory_order_acquire) & kPieceMask) < work_.pieces();
}

// False: there is none.
bool CopyThreads::copy_next_piece() {
  std::uint64_t turn = turn_.load(std::memory_order_acquire);
  for (;;) {
    // Acquire, each: were any of it of a later copy, the exchange would find that this one is closed.
    std::byte* const target = work_.target.load(std::memory_order_acquire);
    const std::byte* const source = work_.source.load(std::memory_order_acquire);
    const std::uint64_t bytes = work_.bytes.load(std::memory_order_acquire);
    const std::uint64_t piece_bytes = work_.piece_bytes.load(std::memory_order_acquire);
    const std::uint64_t at = (turn & kPieceMask) * piece_bytes;
    if (at >= bytes) return false;
    if (!turn_.compare_exchange_weak(turn, turn + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    std::memcpy(target + at, source + at, std::min(piece_bytes, bytes - at));
    pieces_done_.fetch_add(1, std::memory_order_release);  // pairs with share()
    return true;
  }
}

void CopyThreads::help() {
  let_faults_be_handled();
  while (!ended_.load(std::memory_order_acquire)) {
    while (copy_next_piece()) pieces_helped_.fetch_add(1, std::memory_order_relaxed);
    await_copy();
  }
}

// Looks for a while, then sleeps.
void CopyThreads::await_copy() {
  const auto over = [this] { return is_open() || ended_.load(std::memory_order_acquire); };
  const auto until = Clock::now() + kHelperSpin;
  do {
    for (unsigned look = 0; look < kLooksPerClock; ++look) {
      if (over()) return;
      spin_pause();
    }
  } while (Clock::now() < until);
  const std::uint32_t seen = bell_.prepare(kRingMessages);
  if (over())
    bell_.cancel(kRingMessages);
  else
    bell_.sleep(seen, kHelperSleep, kRingMessages);
}

}  // namespace tf::proxy
