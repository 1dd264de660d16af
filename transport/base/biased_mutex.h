// SPDX-License-Identifier: Apache-2.0
// BiasedMutex: a mutex that costs the thread that keeps taking it no atomic read-modify-write.
//
// Such an operation waits until every earlier store has left the processor. Behind a message that has just
// been written for another core that is one transfer of a cache line, for each message: what the lock guards
// is free, the lock is not. So a thread that was alone for a while gets a bias: it marks it as `held` with a
// plain store and looks whether the bias is still in force. Who wants the mutex meanwhile takes the bias
// away, has all processors fence (fence_everywhere(), a system call), and waits until it is not held.
//   - The owner stores `held`, then loads `bias_`; the other stores `bias_`, fences everywhere, then loads
//     `held`. If the fence on the owner's processor lies behind its store, the other sees `held`; if before
//     it, the owner's load comes after the fence and sees that the bias is gone (Dekker).
//   - An owner may have looked long ago when it marks its bias, which is then nobody's any more. So every
//     bias is an object of its own, and never used again: what is done to an old one concerns nobody.
//   - From then on all take `mutex_`, until one thread has again been alone for long; after every loss for
//     longer, so that two threads that take turns pay for few such losses.
// What it guards must never be held across a wait: the other spins, and yields, until it is free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "transport/base/barriers.h"

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
    Bias* const bias = bias_.load(std::memory_order_acquire);  // pairs with give_bias()
    if (bias != nullptr && bias->owner == self) [[likely]] {
      bias->held.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // take_bias_away()'s barrier finds this order
      if (bias_.load(std::memory_order_relaxed) == bias) [[likely]] {
        locked_by_ = bias;
        return;
      }
      bias->held.store(false, std::memory_order_release);  // pairs with take_bias_away()
    }
    lock_slowly(self);
  }
  void unlock() {
    if (Bias* const bias = locked_by_) [[likely]]
      bias->held.store(false, std::memory_order_release);  // pairs with take_bias_away()
    else
      mutex_.unlock();
  }

  // How often the bias was taken away; for tests.
  std::uint64_t losses() const { return losses_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kAloneMin = 64;       // times that one thread took it in succession
  static constexpr std::uint64_t kAloneMax = 1 << 20;  // after many losses
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::size_t kBiasesMax = 256;  // in a lifetime; then it is a mutex like any other

  struct Bias {
    Bias(std::thread::id thread, std::unique_ptr<Bias> earlier) : owner(thread), before(std::move(earlier)) {}
    const std::thread::id owner;
    std::atomic<bool> held{false};
    const std::unique_ptr<Bias> before;
  };

  void lock_slowly(std::thread::id self);
  void lock_mutex();
  void give_bias(std::thread::id self);
  void take_bias_away(Bias& bias);

  std::atomic<Bias*> bias_{nullptr};  // in force; written under mutex_
  // Guarded by the lock, however it is held:
  Bias* locked_by_ = nullptr;  // null: mutex_
  std::unique_ptr<Bias> latest_;
  std::size_t biases_ = 0;
  std::uint64_t alone_ = 0;
  std::uint64_t alone_wanted_;
  std::thread::id last_{};
  std::atomic<std::uint64_t> losses_{0};  // a statistic
  std::mutex mutex_;
};

}  // namespace tf
