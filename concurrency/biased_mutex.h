// SPDX-License-Identifier: Apache-2.0
// BiasedMutex: a mutex that costs the thread that keeps taking it no atomic read-modify-write.
//
// Such an operation waits until every earlier store has left the processor. Behind a message that has just been
// written for another core that is one transfer of a cache line, for each message: what the lock guards is free,
// the lock is not. So a thread that was alone for a while gets a bias: it marks `held_` with a plain store and
// looks whether the bias is still its own. Who wants the mutex meanwhile takes the bias away, has all processors
// fence (fence_everywhere(), a system call), and waits until `held_` is down.
//   - The owner stores `held_`, then loads `bias_`; the other stores `bias_`, fences everywhere, then loads
//     `held_`. If the fence on the owner's processor lies behind its store, the other sees `held_`; if before
//     it, the owner's load comes after the fence and sees that the bias is gone (Dekker).
//   - From then on all take `mutex_`, until one thread has again been alone for long; after every loss for
//     longer, so that two threads that take turns pay for few such losses.
// What it guards must never be held across a wait: the other spins, and yields, until it is free.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "concurrency/barriers.h"

namespace tf {

class BiasedMutex {
 public:
  // `barriers`: what register_for_barriers() said; without, it is a mutex like any other.
  explicit BiasedMutex(bool barriers = register_for_barriers())
      : alone_wanted_(barriers ? kAloneMin : kNever) {}
  BiasedMutex(const BiasedMutex&) = delete;
  BiasedMutex& operator=(const BiasedMutex&) = delete;

  void lock() {
    const std::thread::id self = std::this_thread::get_id();
    if (bias_.load(std::memory_order_relaxed) == self) [[likely]] {
      held_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the barrier in take_bias_away() finds this order
      if (bias_.load(std::memory_order_relaxed) == self) [[likely]] {
        by_bias_ = true;
        return;
      }
      held_.store(false, std::memory_order_release);  // pairs with take_bias_away()
    }
    lock_slowly(self);
  }
  void unlock() {
    if (by_bias_) [[likely]]
      held_.store(false, std::memory_order_release);  // pairs with take_bias_away()
    else
      mutex_.unlock();
  }

  // How often the bias was taken away; for tests.
  std::uint64_t losses() const { return losses_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kAloneMin = 64;       // times that one thread took it in succession
  static constexpr std::uint64_t kAloneMax = 1 << 20;  // after many losses
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  void lock_slowly(std::thread::id self);
  void take_bias_away();

  // Written under mutex_: by who gives himself the bias, or takes it away.
  std::atomic<std::thread::id> bias_{};
  std::atomic<bool> held_{false};  // by who has the bias, or just finds out that he has not
  // Guarded by the lock, however it is held:
  bool by_bias_ = false;
  std::uint64_t alone_ = 0;
  std::uint64_t alone_wanted_;
  std::thread::id last_{};
  std::atomic<std::uint64_t> losses_{0};  // a statistic
  std::mutex mutex_;
};

}  // namespace tf
