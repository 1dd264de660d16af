// SPDX-License-Identifier: Apache-2.0
// The slow path of BiasedMutex: giving and revoking the bias.
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

}  // namespace

void BiasedMutex::lock_mutex() {
  unsigned pauses = kPausesMin;
  for (unsigned look = 0; look < kLooks; ++look) {
    if (mutex_.try_lock()) return;
    for (unsigned pause = 0; pause < pauses; ++pause) spin_pause();
    pauses = std::min(pauses * 2, kPausesMax);
  }
  mutex_.lock();
}

void BiasedMutex::lock_slowly(std::thread::id self) {
  lock_mutex();
  if (Bias* const bias = bias_.load(std::memory_order_relaxed)) take_bias_away(*bias);
  locked_by_ = nullptr;
  alone_ = last_ == self ? alone_ + 1 : 0;
  last_ = self;
  if (alone_ >= alone_wanted_) give_bias(self);
}

// Takes effect from the next lock() on: this time mutex_ is held. REQUIRES: it is.
void BiasedMutex::give_bias(std::thread::id self) {
  alone_ = 0;
  if (++biases_ >= kBiasesMax) alone_wanted_ = kNever;
  auto* const bias = new (std::nothrow) Bias(self, std::move(latest_));
  if (bias == nullptr) {
    alone_wanted_ = kNever;  // out of memory: do without
    return;
  }
  latest_.reset(bias);
  bias_.store(bias, std::memory_order_release);  // pairs with lock()
}

// REQUIRES: mutex_ is held.
void BiasedMutex::take_bias_away(Bias& bias) {
  bias_.store(nullptr, std::memory_order_relaxed);
  losses_.fetch_add(1, std::memory_order_relaxed);
  fence_everywhere_surely();
  // Acquire: what the holder did is seen here (pairs with unlock()).
  for (unsigned round = 0; bias.held.load(std::memory_order_acquire); ++round) {
    if (round < kSpins)
      spin_pause();
    else if (round < kYields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kPause);
  }
  if (alone_wanted_ != kNever) alone_wanted_ = std::min(alone_wanted_ * 2, kAloneMax);
}

}  // namespace tf
