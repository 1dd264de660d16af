// SPDX-License-Identifier: Apache-2.0
// BiasedMutex: a mutex that its usual owner takes without an atomic read-modify-write.
//
// An atomic read-modify-write waits until every earlier store has left the processor. Right after a message
// was written for another core, that costs one cache line transfer per message, although the lock itself is
// free. So a thread that has taken the mutex often enough in a row gets a bias. To lock, the owner marks its
// bias `held` with a plain store and checks that the bias is still in force. A thread that wants the mutex
// meanwhile revokes the bias, makes all processors fence (fence_everywhere(), a system call), and waits until
// the bias is not held.
//   - The owner stores `held`, then loads `bias_`. The other thread stores `bias_`, fences everywhere, then
//     loads `held`. If the fence hits the owner's processor after its store, the other thread sees `held`. If
//     it hits before, the owner's load comes after the fence and sees that the bias is gone (Dekker).
//   - An owner may load the bias, and mark it only after it was revoked. So every bias is a separate object
//     and is never reused: marking a revoked one affects nobody.
//   - After a revocation every thread takes `mutex_`, until one thread has again been alone for long enough.
//     Each revocation makes that longer, so two threads that alternate cause few of them.
// Never hold this mutex across a wait: other threads spin and yield until it is free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "transport/base/barriers.h"
#include "transport/base/thread_annotations.h"

namespace tf {

class TF_CAPABILITY BiasedMutex {
 public:
  // `barriers`: the result of register_for_barriers(). Without barriers this is an ordinary mutex.
  explicit BiasedMutex(bool barriers = register_for_barriers())
      : alone_wanted_(barriers ? kAloneMin : kNever) {}
  BiasedMutex(const BiasedMutex&) = delete;
  BiasedMutex& operator=(const BiasedMutex&) = delete;

  // Unchecked: how it holds is this class's own business.
  void lock() TF_ACQUIRE() TF_UNCHECKED {
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
  void unlock() TF_RELEASE() TF_UNCHECKED {
    if (Bias* const bias = locked_by_) [[likely]]
      bias->held.store(false, std::memory_order_release);  // pairs with take_bias_away()
    else
      mutex_.unlock();
  }

  // Number of revocations; for tests.
  std::uint64_t losses() const { return losses_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kAloneMin = 64;       // times in a row that one thread took it
  static constexpr std::uint64_t kAloneMax = 1 << 20;  // after many losses
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::size_t kBiasesMax = 256;  // per mutex; then it is an ordinary one

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
