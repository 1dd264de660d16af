// SPDX-License-Identifier: Apache-2.0
// BiasedMutex: a mutex that its usual owner takes without an atomic read-modify-write.
//
// An atomic read-modify-write waits until every earlier store has left the processor. Right after a message
// was written for another core, that costs one cache line transfer per message, although the lock itself is
// free. So a thread that takes the mutex often gets a bias. To lock, the owner marks its bias `held` with a
// plain store and checks that the bias is still in force.
//
// A thread that wants the mutex meanwhile names itself as the heir and waits. Every change of owner moves all
// cache lines that the mutex guards, so a busy owner keeps the bias for a slice of kSlice locks, and passes
// it on inside unlock(). It also does so at the end of a burst (end_burst()). An owner that is away cannot
// pass it on: the heir then revokes the bias, makes all processors fence (fence_everywhere(), a system call),
// and waits until the bias is not held.
//   - The owner stores `held`, then loads `bias_`. The heir stores `bias_`, fences everywhere, then loads
//     `held`. If the fence hits the owner's processor after its store, the heir sees `held`. If it hits
//     before, the owner's load comes after the fence and sees that the bias is gone (Dekker).
//   - An owner may load the bias, and mark it only after it was revoked. So every thread has a bias object of
//     its own, and asks for it itself: one that it may yet mark is never in force again meanwhile.
//   - After a revocation every thread takes `mutex_`, until it was taken often enough. Each revocation makes
//     that longer and each inheritance shorter, so threads that take rare turns cause few revocations.
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
      : uses_wanted_(barriers ? kUsesMin : kNever) {}
  BiasedMutex(const BiasedMutex&) = delete;
  BiasedMutex& operator=(const BiasedMutex&) = delete;

  // Unchecked: how it holds is this class's own business.
  void lock() TF_ACQUIRE() TF_UNCHECKED {
    const std::thread::id self = std::this_thread::get_id();
    Bias* const bias = bias_.load(std::memory_order_acquire);  // pairs with give_bias() and pass_on()
    if (bias != nullptr && bias->owner == self) [[likely]] {
      const std::uint32_t turn = bias->turn.load(std::memory_order_relaxed);
      bias->turn.store(turn + 1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the revoker's barrier finds this order
      if (bias_.load(std::memory_order_relaxed) == bias) [[likely]] {
        locked_by_ = bias;
        return;
      }
      bias->turn.store(turn + 2, std::memory_order_release);  // pairs with await_release()
    }
    lock_slowly(self);
  }
  void unlock() TF_RELEASE() TF_UNCHECKED {
    Bias* const bias = locked_by_;
    if (bias == nullptr) [[unlikely]]
      return mutex_.unlock();
    const std::uint32_t turn = bias->turn.load(std::memory_order_relaxed) + 1;
    if (heir_.load(std::memory_order_relaxed) != nullptr || bias->leaves) [[unlikely]]
      pass_on(*bias, turn);
    bias->turn.store(turn, std::memory_order_release);  // pairs with await_release()
  }
  // The holder will do something else after unlock(), such as wait: others need not wait for its slice.
  void end_burst() TF_REQUIRES(this) {
    if (locked_by_ == nullptr) return;
    if (contended_ != 0 || heir_.load(std::memory_order_relaxed) != nullptr) locked_by_->leaves = true;
  }

  // Numbers of revocations, and of biases that owners passed on; for tests.
  std::uint64_t losses() const { return losses_.load(std::memory_order_relaxed); }
  std::uint64_t inheritances() const { return inheritances_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kUsesMin = 64;       // of mutex_, before somebody gets a bias
  static constexpr std::uint64_t kUsesMax = 1 << 20;  // after many losses
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::size_t kBiasesMax = 256;  // threads that may get one, for each mutex
  // Locks since the owner got the bias, after which it passes it on to a thread that waits: so many that
  // moving the guarded cache lines costs little beside them.
  static constexpr std::uint32_t kSlice = 256;
  // The same, if the heir had to be woken: a wake-up for the next one who waits costs little beside so many.
  static constexpr std::uint32_t kSliceBeforeSleeper = 2048;
  // Bursts that end after an inheritance and leave the bias vacant, in case there are others again.
  static constexpr unsigned kContendedBursts = 8;

  struct alignas(64) Bias {
    Bias(std::thread::id thread, std::unique_ptr<Bias> earlier) : owner(thread), before(std::move(earlier)) {}
    const std::thread::id owner;
    std::atomic<std::uint32_t> turn{0};  // odd: held. Written by the owner only
    // The owner's:
    std::uint32_t since = 0;  // turn at which the slice began
    bool leaves = false;
    bool slept = false;  // set before it is the heir
    const std::unique_ptr<Bias> before;
  };

  void lock_slowly(std::thread::id self);
  bool lock_mutex();
  Bias* bias_of(std::thread::id self);
  void give_bias(std::thread::id self);
  void pass_on(Bias& bias, std::uint32_t turn);
  bool inherit(Bias& owner, std::thread::id self, bool slept);
  bool await_bias(Bias& owner);
  bool take_bias_away(Bias& bias);
  static void await_release(const Bias& bias);

  // Written when the bias changes only, so that looking at them takes no line from a busy owner.
  alignas(64) std::atomic<Bias*> bias_{nullptr};  // in force
  std::atomic<Bias*> heir_{nullptr};              // of the thread that waits for it and holds mutex_
  // Guarded by the lock, however it is held:
  alignas(64) Bias* locked_by_ = nullptr;  // null: mutex_
  unsigned contended_ = 0;                 // bursts
  bool vacant_ = false;                    // the last owner left the bias
  // Held by who takes the lock without a bias, or waits for the bias. It guards these:
  alignas(64) std::mutex mutex_;
  std::unique_ptr<Bias> latest_;
  std::size_t biases_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t uses_wanted_;
  std::atomic<std::uint64_t> losses_{0};  // statistics
  std::atomic<std::uint64_t> inheritances_{0};
};

}  // namespace tf
