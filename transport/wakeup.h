// SPDX-License-Identifier: Apache-2.0
// Doorbell: the only place that sleeps. Four 32-bit words in memory that both sides map.
//
//   offset  size  what
//   0       4     rings     counts up when somebody is woken; the futex word
//   4       4     sleepers  threads about to sleep or asleep that wait for messages
//   8       4     sleepers  the same, for payload
//   12      4     reserved
//
// Waiter: look for work; spin a while; then ++sleepers (seq_cst) of what it waits for, look again, futex-wait
// on `rings`, --sleepers. Ringer: publish the work (release), fence (seq_cst), and only if somebody sleeps
// for that kind of work: ++rings, wake those. The fence pairs with the waiter's seq_cst increment (Dekker):
// either the ringer sees the sleeper or the waiter's second look sees the work. A ringer with nobody asleep
// pays one fence and one load; a thread asleep for payload costs a message nothing.
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

inline constexpr std::size_t kDoorbellBytes = 16;

// What is rung or waited for: bits.
using Ringing = std::uint32_t;
inline constexpr Ringing kRingMessages = 1;
inline constexpr Ringing kRingBulk = 2;
inline constexpr Ringing kRingAll = kRingMessages | kRingBulk;

class Doorbell {
 public:
  // `words`: 8-byte aligned, kDoorbellBytes long, zeroed by the creator; `shared` between processes or not.
  Doorbell(std::byte* words, bool shared)
      : words_(reinterpret_cast<std::uint32_t*>(words)), shared_(shared) {}

  // After the caller has published. Wakes every sleeper that waits for any of `what`.
  void ring(Ringing what) const {
    full_fence();  // pairs with prepare()
    if (has_sleepers(what)) wake(what);
  }

  // Announces a sleep and returns what to sleep on. Look for work between prepare() and sleep() or cancel(),
  // which take the same `what`.
  std::uint32_t prepare(Ringing what) const;
  void cancel(Ringing what) const;
  // Sleeps until rung after prepare(), or for `timeout` at most; ends the announcement.
  void sleep(std::uint32_t seen, std::chrono::nanoseconds timeout, Ringing what) const;
  void wake(Ringing what) const;

 private:
  std::atomic_ref<std::uint32_t> rings() const { return std::atomic_ref(words_[0]); }
  std::atomic_ref<std::uint32_t> sleepers(Ringing one) const { return std::atomic_ref(words_[one]); }
  bool has_sleepers(Ringing what) const {
    return ((what & kRingMessages) != 0 && sleepers(kRingMessages).load(std::memory_order_relaxed) != 0) ||
           ((what & kRingBulk) != 0 && sleepers(kRingBulk).load(std::memory_order_relaxed) != 0);
  }

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
  std::atomic<std::int64_t> learned_ns_;
  std::atomic<std::int64_t> budget_ns_;  // what was learned, or the most that is ever spun, now and then
  std::atomic<std::uint32_t> waits_{0};
};

// Tells the processor that this is a spin loop.
void spin_pause();

// Whoever has spun this long lets others run: the peer may stand behind it in the queue of the same
// processor, and would be let run only when the spinning ends.
inline constexpr std::chrono::microseconds kSpinAlone{15};
void spin_yield();

}  // namespace tf
