// SPDX-License-Identifier: Apache-2.0
// The slow path of BiasedMutex: giving, passing on and revoking the bias.
#include "transport/base/biased_mutex.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "transport/base/pause.h"

namespace tf {
namespace {

// Pauses between two looks at a held mutex: enough for its holder to post a dozen times. Every look takes the
// mutex's cache line from the holder, and every change of owner moves everything it guards.
constexpr unsigned kPausesMin = 64;
constexpr unsigned kPausesMax = 512;
constexpr unsigned kLooks = 8;   // together about a wake-up; then it sleeps
constexpr unsigned kSpins = 64;  // before yielding to others
constexpr unsigned kYields = 1024;
constexpr std::chrono::microseconds kPause{50};  // the holder has lost its processor
// The heir looks after so many pauses whether the owner takes turns, and gives it up after two looks.
constexpr unsigned kPausesPerTurn = 32;
constexpr unsigned kIdleLooks = 2;

void pause_after(unsigned rounds) {
  if (rounds < kSpins)
    spin_pause();
  else if (rounds < kYields)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(kPause);
}

}  // namespace

// Whether it slept.
bool BiasedMutex::lock_mutex() {
  unsigned pauses = kPausesMin;
  for (unsigned look = 0; look < kLooks; ++look) {
    if (mutex_.try_lock()) return false;
    for (unsigned pause = 0; pause < pauses; ++pause) spin_pause();
    pauses = std::min(pauses * 2, kPausesMax);
  }
  mutex_.lock();
  return true;
}

void BiasedMutex::lock_slowly(std::thread::id self) {
  const bool slept = lock_mutex();
  Bias* const bias = bias_.load(std::memory_order_acquire);  // pairs with pass_on()
  if (bias != nullptr && inherit(*bias, self, slept)) return mutex_.unlock();
  locked_by_ = nullptr;
  if (std::exchange(vacant_, false) || ++uses_ >= uses_wanted_) give_bias(self);
}

// The thread's own, to be given or inherited; null: there can be no more. REQUIRES: mutex_ is held.
BiasedMutex::Bias* BiasedMutex::bias_of(std::thread::id self) {
  for (Bias* bias = latest_.get(); bias != nullptr; bias = bias->before.get())
    if (bias->owner == self) return bias;
  if (biases_ >= kBiasesMax) return nullptr;
  auto* const bias = new (std::nothrow) Bias(self, std::move(latest_));
  if (bias == nullptr) return nullptr;
  ++biases_;
  latest_.reset(bias);
  return bias;
}

// Takes effect from the next lock() on: this time mutex_ is held. REQUIRES: it is.
void BiasedMutex::give_bias(std::thread::id self) {
  uses_ = 0;
  Bias* const bias = bias_of(self);
  if (bias == nullptr) return;  // this thread does without
  bias->since = bias->turn.load(std::memory_order_relaxed);
  bias_.store(bias, std::memory_order_release);  // pairs with lock()
}

// Inside unlock(): what the lock guards is not touched after the exchange. That fails if the bias was revoked
// meanwhile: then the revoker waits for this unlock().
void BiasedMutex::pass_on(Bias& bias, std::uint32_t turn) {
  Bias* const heir = heir_.load(std::memory_order_acquire);  // pairs with inherit()
  const bool leaves = std::exchange(bias.leaves, false);
  const std::uint32_t slice = heir != nullptr && heir->slept ? kSliceBeforeSleeper : kSlice;
  if (!leaves && turn - bias.since < 2 * slice) return;  // a lock takes two turns
  if (heir == nullptr) {
    if (contended_ == 0) return;
    --contended_;
    vacant_ = true;
  }
  Bias* expected = &bias;
  bias_.compare_exchange_strong(expected, heir, std::memory_order_release, std::memory_order_relaxed);
}

// Waits for the bias and takes the lock by it. False: mutex_ is the lock now. REQUIRES: mutex_ is held.
bool BiasedMutex::inherit(Bias& owner, std::thread::id self, bool slept) {
  Bias* const own = bias_of(self);
  if (own != nullptr) own->slept = slept;
  heir_.store(own, std::memory_order_release);  // pairs with pass_on()
  const bool inherited = own != nullptr ? await_bias(owner) : !take_bias_away(owner);
  heir_.store(nullptr, std::memory_order_relaxed);
  if (!inherited) return false;
  const std::uint32_t turn = own->turn.load(std::memory_order_relaxed);
  own->since = turn;
  own->leaves = false;
  own->turn.store(turn + 1, std::memory_order_relaxed);  // who would revoke it needs mutex_
  locked_by_ = own;
  contended_ = kContendedBursts;
  inheritances_.fetch_add(1, std::memory_order_relaxed);
  if (uses_wanted_ != kNever) uses_wanted_ = std::max(uses_wanted_ / 2, kUsesMin);
  return true;
}

// Whether the owner passed its bias on to this thread. Otherwise nobody has it: the owner left, or was away.
// The acquires pair with pass_on().
bool BiasedMutex::await_bias(Bias& owner) {
  std::uint32_t seen = owner.turn.load(std::memory_order_relaxed);
  unsigned idle = 0;
  unsigned held = 0;
  for (;;) {
    for (unsigned pause = 0; pause < kPausesPerTurn; ++pause) {
      if (Bias* const now = bias_.load(std::memory_order_acquire); now != &owner) return now != nullptr;
      spin_pause();
    }
    const std::uint32_t turn = owner.turn.load(std::memory_order_relaxed);
    if (std::exchange(seen, turn) != turn) {
      idle = held = 0;  // no yield: the bias may come to a thread that has lost its processor then
    } else if (turn % 2 != 0) {
      pause_after(kSpins + held++);
    } else if (++idle == kIdleLooks) {
      return !take_bias_away(owner);
    }
  }
}

// False: its owner has just passed it on, or left it. REQUIRES: mutex_ is held.
bool BiasedMutex::take_bias_away(Bias& bias) {
  Bias* expected = &bias;
  if (!bias_.compare_exchange_strong(expected, nullptr, std::memory_order_acquire))
    return expected == nullptr;
  losses_.fetch_add(1, std::memory_order_relaxed);
  fence_everywhere_surely();
  await_release(bias);
  vacant_ = false;
  if (uses_wanted_ != kNever) uses_wanted_ = std::min(uses_wanted_ * 2, kUsesMax);
  return true;
}

// Acquire: what the holder did is seen afterwards (pairs with unlock()).
void BiasedMutex::await_release(const Bias& bias) {
  for (unsigned round = 0; bias.turn.load(std::memory_order_acquire) % 2 != 0; ++round) pause_after(round);
}

}  // namespace tf
