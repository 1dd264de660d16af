// SPDX-License-Identifier: Apache-2.0
// Doorbell: the only place that sleeps. Five 32-bit words in memory that both sides map.
//
//   offset  size  who writes  what
//   0       4     ringer      rings     counts up at each wake-up; the futex word
//   4       4     waiter      sleepers  threads that sleep, or are about to, waiting for messages
//   8       4     waiter      sleepers  the same, for payload
//   12      4     waiter      barriers  1: the waiter makes all processors fence if `unfenced` is set
//   16      4     ringer      unfenced  1: the ringer of messages looks for sleepers without a fence
//   20      12    nobody      reserved
//
// Waiter: look for work; spin a while; then ++sleepers (seq_cst) for the kind of work, look again, futex-wait
// on `rings`, --sleepers. Ringer: publish the work (release), fence (seq_cst), and only if somebody sleeps
// for that kind of work: ++rings, wake those. The fence pairs with the waiter's seq_cst increment (Dekker):
// either the ringer sees the sleeper, or the waiter's second look sees the work. A ringer with nobody asleep
// pays one fence and one load; a thread asleep for payload costs a message nothing.
//
// That fence waits until the published line has been fetched back from a peer that polls it. It alone would
// limit the messages per second. So the ringer of messages stops fencing when nobody has slept for a while
// (MessageRinger), and the waiter pays instead: the system call membarrier() makes every processor that runs
// a thread of a registered process fence. No wake-up is lost:
//   - The ringer stores `unfenced` = 1 and fences before the first message it rings for without a fence, and
//     fences before it stores 0 again. The waiter reads `unfenced` after its increment and a fence.
//   - Suppose a ringer without a fence misses the increment. Then its look, and so `unfenced` = 1, came
//     before the increment, and the waiter reads 1, or the 0 that was stored later. If 0, the message was
//     visible before that 0 was (release, acquire): the second look finds it.
//   - If 1, the waiter makes the ringer's processor fence, after the increment and before the second look. If
//     that fence hits after the publishing, the second look finds the message. If it hits before, the
//     ringer's look came after it, and does not miss the increment.
//
// The peer may write anything into the words. The worst result is a waiter that looks in vain or sleeps until
// its timeout, so every sleep here has one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/barriers.h"
#include "transport/base/fence.h"

namespace tf {

inline constexpr std::size_t kDoorbellBytes = 32;

// What to ring or wait for: a bit set.
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

  // Announces a sleep and returns the value to sleep on. Look for work between prepare() and sleep() or
  // cancel(), which take the same `what`.
  std::uint32_t prepare(Ringing what) const;
  void cancel(Ringing what) const;
  // Sleeps until a ring after prepare(), or for `timeout` at most; ends the announcement.
  void sleep(std::uint32_t seen, std::chrono::nanoseconds timeout, Ringing what) const;
  void wake(Ringing what) const;

  // Waiter's side, before it waits: allows the ringer of messages to leave out fences. REQUIRES:
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

// The only ringer of a doorbell for messages. Leaves out the fence while nobody sleeps. One thread at a time.
class MessageRinger {
 public:
  // `registered`: the result of register_for_barriers().
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
  // After this many messages that found nobody asleep, the fences saved pay for the next sleeper's barrier.
  static constexpr std::uint32_t kQuietRings = 64;

  void wake();
  void leave_out_fences();

  Doorbell bell_;
  bool registered_;
  bool unfenced_ = false;    // our copy of the word, which the peer could overwrite
  std::uint32_t quiet_ = 0;  // messages since the last wake-up
};

}  // namespace tf
