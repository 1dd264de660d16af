// SPDX-License-Identifier: Apache-2.0
// Doorbell: the only place that sleeps. Five 32-bit words in memory that both sides map.
//
//   offset  size  who writes  what
//   0       4     ringer      rings     counts up when somebody is woken; the futex word
//   4       4     waiter      sleepers  threads about to sleep or asleep that wait for messages
//   8       4     waiter      sleepers  the same, for payload
//   12      4     waiter      barriers  1: whoever waits here has all processors fence if `unfenced` is set
//   16      4     ringer      unfenced  1: the ringer of messages looks for sleepers without a fence
//   20      12    nobody      reserved
//
// Waiter: look for work; spin a while; then ++sleepers (seq_cst) of what it waits for, look again, futex-wait
// on `rings`, --sleepers. Ringer: publish the work (release), fence (seq_cst), and only if somebody sleeps
// for that kind of work: ++rings, wake those. The fence pairs with the waiter's seq_cst increment (Dekker):
// either the ringer sees the sleeper or the waiter's second look sees the work. A ringer with nobody asleep
// pays one fence and one load; a thread asleep for payload costs a message nothing.
//
// That fence waits until the published line has been fetched back from a peer that polls it, message by
// message: it, and nothing else, would say how many messages a second pass. So the ringer of messages does
// without when nobody has slept for a while (MessageRinger), and the waiter's side pays: the system call
// membarrier() has every processor that runs a thread of a registered process fence. Nothing is lost:
//   - The ringer stores `unfenced` = 1 and fences before the first message it rings for without, and fences
//     before it stores 0 again. The waiter reads `unfenced` after its increment and a fence.
//   - Say that a ringer without a fence misses the increment. Then its look, and so `unfenced` = 1, came
//     before the increment, and the waiter reads 1, or the 0 that was stored later. If 0, the message was
//     visible before that 0 was (release, acquire): the second look finds it.
//   - If 1, the waiter has the ringer's processor fence, after the increment and before the second look. If
//     that fence lies behind the publishing, the second look finds the message; if before it, the ringer's
//     look came after it, and does not miss the increment.
//
// The peer may write anything into the words: the worst it gets is a waiter that looks in vain or sleeps
// until its timeout, so every sleep here has one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "concurrency/barriers.h"
#include "concurrency/fence.h"
#include "concurrency/pause.h"

namespace tf {

inline constexpr std::size_t kDoorbellBytes = 32;

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

  // Waiter's side, before it waits: lets the ringer of messages do without fences. REQUIRES:
  // register_for_barriers() in this process.
  void offer_barriers() const { barriers().store(1, std::memory_order_release); }

 private:
  friend class MessageRinger;

  std::atomic_ref<std::uint32_t> rings() const { return std::atomic_ref(words_[0]); }
  std::atomic_ref<std::uint32_t> sleepers(Ringing one) const { return std::atomic_ref(words_[one]); }
  std::atomic_ref<std::uint32_t> barriers() const { return std::atomic_ref(words_[3]); }
  std::atomic_ref<std::uint32_t> unfenced() const { return std::atomic_ref(words_[4]); }
  bool has_sleepers(Ringing what) const {
    return ((what & kRingMessages) != 0 && sleepers(kRingMessages).load(std::memory_order_relaxed) != 0) ||
           ((what & kRingBulk) != 0 && sleepers(kRingBulk).load(std::memory_order_relaxed) != 0);
  }

  std::uint32_t* words_;
  bool shared_;
};

// The one ringer of a doorbell for messages: leaves out the fence while nobody sleeps. One thread at a time.
class MessageRinger {
 public:
  // `registered`: what register_for_barriers() said.
  MessageRinger(Doorbell bell, bool registered) : bell_(bell), registered_(registered) {}

  // After the caller has published a message.
  void ring() {
    if (unfenced_)
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the waiter's barrier finds this order
    else
      full_fence();  // pairs with prepare()
    if (bell_.has_sleepers(kRingMessages)) [[unlikely]] {
      wake();
    } else if (!unfenced_ && ++quiet_ == kQuietRings) [[unlikely]] {
      leave_out_fences();
    }
  }

 private:
  // So many messages that found nobody asleep pay for the barrier of the next who falls asleep.
  static constexpr std::uint32_t kQuietRings = 64;

  void wake();
  void leave_out_fences();

  Doorbell bell_;
  bool registered_;
  bool unfenced_ = false;    // what the word says; the word itself is the peer's to spoil
  std::uint32_t quiet_ = 0;  // messages since somebody was woken
};

// How long to spin before sleeping, learned from how long waits have lasted lately: worth it while waits end
// within what a sleep and a wake-up cost. One per waiting thread role; relaxed, so races only cost accuracy.
//
// And whether to spin at all. With more threads at work than processors, a client and its session that happen
// to run at the same time answer each other without sleeping, and keep both processors until the scheduler
// takes them away; whoever spins alone meanwhile wastes its turn. Where all sleep while they wait, the
// scheduler divides what there is. So whoever found out that others want its processor sleeps at once for
// many times as long as it cost to find out, and asks (a yield) before it spins again.
class SpinBudget {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Crowd : std::uint8_t { kNone, kAsk, kSure };  // spin; yield first; sleep

  SpinBudget();
  std::chrono::nanoseconds current() const {
    return std::chrono::nanoseconds(budget_ns_.load(std::memory_order_relaxed));
  }
  // A wait ended after `waited`, spinning or asleep.
  void learn(std::chrono::nanoseconds waited);

  // Others ran for `time` until `now`, while this thread would have spun.
  void lost(Clock::time_point now, std::chrono::nanoseconds time);
  // Whether there were others when last seen: then not even a look or two is for free, since two ends that
  // are awake at the same time need no more than that to keep both processors.
  bool crowded() const { return crowded_until_ns_.load(std::memory_order_relaxed) != 0; }
  // Whether a yield that took `time` has let another thread run.
  bool others_ran(std::chrono::nanoseconds time);
  // Nobody else wanted to run.
  void alone() {
    if (crowded()) crowded_until_ns_.store(0, std::memory_order_relaxed);
  }
  Crowd crowd(Clock::time_point now) const;

 private:
  static constexpr std::int64_t kNoYield = INT64_MAX;

  std::int64_t max_ns() const;

  std::int64_t max_ns_;  // 0: never; more where a yield takes long
  std::atomic<std::int64_t> learned_ns_;
  std::atomic<std::int64_t> budget_ns_;  // what was learned, or the most that is ever spun, now and then
  std::atomic<std::uint32_t> waits_{0};
  std::atomic<std::int64_t> crowded_until_ns_{0};  // of the clock; 0: not that anybody knew
  std::atomic<std::int64_t> quickest_yield_ns_{kNoYield};
};

// Whoever has spun this long lets others run: the peer may stand behind it in the queue of the same
// processor, and would be let run only when the spinning ends.
inline constexpr std::chrono::microseconds kSpinAlone{10};
void spin_yield();

// Whether this machine has so many processors that a thread which looks at something for a few milliseconds,
// letting others run now and then, takes nothing from them.
bool many_processors();

// The spinning of one wait.
class Spin {
 public:
  using Clock = SpinBudget::Clock;
  // `budget` outlives it. `yield`: for tests.
  Spin(SpinBudget& budget, Clock::time_point start, void (*yield)() = spin_yield);
  // Between two looks, with the time: false when it is time to sleep. Lets others run now and then.
  bool go_on(Clock::time_point now);

 private:
  SpinBudget& budget_;
  void (*yield_)();
  Clock::time_point until_;
  Clock::time_point next_yield_;
};

}  // namespace tf
