// SPDX-License-Identifier: Apache-2.0
// Futex sleeps and wake-ups, and when the ringer leaves out fences.
#include "transport/wakeup.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

namespace tf {

std::uint32_t Doorbell::prepare(Ringing what) const {
  const std::uint32_t seen = rings().load(std::memory_order_acquire);  // pairs with wake()
  for (const Ringing one : {kRingMessages, kRingBulk})
    if ((what & one) != 0) sleepers(one).fetch_add(1, std::memory_order_seq_cst);  // with the fence in ring()
  full_fence();
  // Acquire: pairs with the release in MessageRinger::wake().
  if ((what & kRingMessages) == 0 || unfenced().load(std::memory_order_acquire) == 0) return seen;
  return fence_everywhere() ? seen : seen - 1;  // never rung: sleep() returns at once
}

void Doorbell::cancel(Ringing what) const {
  for (const Ringing one : {kRingMessages, kRingBulk})
    if ((what & one) != 0) sleepers(one).fetch_sub(1, std::memory_order_relaxed);
}

void Doorbell::sleep(std::uint32_t seen, std::chrono::nanoseconds timeout, Ringing what) const {
  // This operation takes an absolute time of the monotonic clock.
  timespec limit{};
  ::clock_gettime(CLOCK_MONOTONIC, &limit);
  const auto until = std::chrono::seconds(limit.tv_sec) + std::chrono::nanoseconds(limit.tv_nsec) + timeout;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until);
  limit = {seconds.count(), (until - seconds).count()};
  const int operation = FUTEX_WAIT_BITSET | (shared_ ? 0 : FUTEX_PRIVATE_FLAG);
  ::syscall(SYS_futex, words_, operation, seen, &limit, nullptr, what);  // EAGAIN: rung meanwhile
  cancel(what);
}

void Doorbell::wake(Ringing what) const {
  rings().fetch_add(1, std::memory_order_release);  // pairs with the acquire in prepare()
  const int operation = FUTEX_WAKE_BITSET | (shared_ ? 0 : FUTEX_PRIVATE_FLAG);
  ::syscall(SYS_futex, words_, operation, INT_MAX, nullptr, nullptr, what);
}

// A waiter that slept may sleep again: fence until it has been quiet for long.
void MessageRinger::wake() {
  quiet_ = 0;
  if (std::exchange(unfenced_, false)) {
    full_fence();
    bell_.unfenced().store(0, std::memory_order_release);  // pairs with prepare()
  }
  bell_.wake(kRingMessages);
}

void MessageRinger::leave_out_fences() {
  quiet_ = 0;
  if (!registered_ || bell_.barriers().load(std::memory_order_acquire) == 0) return;
  bell_.unfenced().store(1, std::memory_order_relaxed);
  full_fence();
  unfenced_ = true;
}

}  // namespace tf
