// SPDX-License-Identifier: Apache-2.0
// Doorbell: the only place that sleeps. Two 32-bit words in memory that both sides map.
//
//   offset  size  what
//   0       4     rings    counts up when somebody is woken; the futex word
//   4       4     sleepers number of threads that are about to sleep or asleep
//
// Waiter: look for work; spin a while; then ++sleepers (seq_cst), look again, futex-wait on `rings`,
// --sleepers. Ringer: publish the work (release), fence (seq_cst), and only if sleepers != 0: ++rings,
// futex-wake all. The fence pairs with the waiter's seq_cst increment (Dekker): either the ringer sees the
// sleeper or the waiter's second look sees the work. A ringer with nobody asleep pays one fence and one load.
//
// The peer may write anything into the words: the worst it gets is a waiter that looks in vain or sleeps
// until its timeout, so every sleep here has one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/fence.h"

namespace tf {

inline constexpr std::size_t kDoorbellBytes = 8;

class Doorbell {
 public:
  // `words`: 8-byte aligned, kDoorbellBytes long, zeroed by the creator; `shared` between processes or not.
  Doorbell(std::byte* words, bool shared)
      : words_(reinterpret_cast<std::uint32_t*>(words)), shared_(shared) {}

  // After the caller has published. Wakes every sleeper.
  void ring() const {
    full_fence();  // pairs with prepare()
    if (sleepers().load(std::memory_order_relaxed) != 0) wake();
  }

  // Announces a sleep and returns what to sleep on. Look for work between prepare() and sleep() or cancel().
  std::uint32_t prepare() const {
    const std::uint32_t seen = rings().load(std::memory_order_acquire);
    sleepers().fetch_add(1, std::memory_order_seq_cst);  // pairs with the fence in ring()
    full_fence();
    return seen;
  }
  void cancel() const { sleepers().fetch_sub(1, std::memory_order_relaxed); }
  // Sleeps until rung after prepare(), or for `timeout` at most; ends the announcement.
  void sleep(std::uint32_t seen, std::chrono::nanoseconds timeout) const;
  void wake() const;

 private:
  std::atomic_ref<std::uint32_t> rings() const { return std::atomic_ref(words_[0]); }
  std::atomic_ref<std::uint32_t> sleepers() const { return std::atomic_ref(words_[1]); }

  std::uint32_t* words_;
  bool shared_;
};

// How long to spin before sleeping, learned from how long waits have lasted lately: worth it while waits end
// within what a sleep and a wake-up cost. One per waiting thread role; relaxed, so races only cost accuracy.
class SpinBudget {
 public:
  SpinBudget();
  std::chrono::nanoseconds current() const {
    return std::chrono::nanoseconds(budget_ns_.load(std::memory_order_relaxed));
  }
  // A wait ended after `waited`, spinning or asleep.
  void learn(std::chrono::nanoseconds waited);

 private:
  std::int64_t max_ns_;
  std::atomic<std::int64_t> budget_ns_;
};

// Tells the processor that this is a spin loop.
void spin_pause();

}  // namespace tf
