// SPDX-License-Identifier: Apache-2.0
#include "transport/wakeup.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace tf {
namespace {

constexpr std::int64_t kSpinMaxNs = 50'000;  // a sleep and a wake-up cost about 10 us: never spin much longer
constexpr std::int64_t kSpinMinNs = 500;
constexpr int kSpinHeadroom = 4;  // spin this many times the wait that ended lately

// Of the machine, not of this thread: ends pinned to one processor each still run at the same time.
bool one_processor() { return ::sysconf(_SC_NPROCESSORS_ONLN) < 2; }

}  // namespace

void Doorbell::sleep(std::uint32_t seen, std::chrono::nanoseconds timeout) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  timespec limit{seconds.count(), (timeout - seconds).count()};
  const int operation = shared_ ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE;
  ::syscall(SYS_futex, words_, operation, seen, &limit, nullptr, 0);  // EAGAIN: rung meanwhile
  cancel();
}

void Doorbell::wake() const {
  rings().fetch_add(1, std::memory_order_release);  // pairs with the acquire in prepare()
  ::syscall(SYS_futex, words_, shared_ ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

SpinBudget::SpinBudget() : max_ns_(one_processor() ? 0 : kSpinMaxNs), budget_ns_(max_ns_) {}

void SpinBudget::learn(std::chrono::nanoseconds waited) {
  const std::int64_t old = budget_ns_.load(std::memory_order_relaxed);
  const std::int64_t spun = waited.count();
  // Longer than spinning can pay for: less of it next time. Otherwise up at once and down slowly, so that one
  // short wait among longer ones is no reason to sleep early.
  std::int64_t wanted = old - old / 8;
  if (spun <= kSpinMaxNs) wanted = std::max(spun * kSpinHeadroom, old - old / 16);
  budget_ns_.store(std::min(max_ns_, std::clamp(wanted, kSpinMinNs, kSpinMaxNs)), std::memory_order_relaxed);
}

void spin_pause() { _mm_pause(); }

}  // namespace tf
