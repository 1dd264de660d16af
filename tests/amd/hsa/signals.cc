// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/signals.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <new>

namespace tf::amd::hsa {
namespace {

constexpr std::uint64_t kLookAgain_ns = 1'000'000;
constexpr int kSpins = 200;
constexpr std::size_t kSlabBytes = 64 * 1024;

// Where threads sleep that wait for a signal. Signals share beds; whoever is woken looks whether it was its
// own.
struct Bed {
  std::atomic<std::uint32_t> changes{0};
  std::atomic<std::uint32_t> sleepers{0};

  void wake() {
    changes.fetch_add(1);
    if (sleepers.load() != 0) syscall(SYS_futex, &changes, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
  void sleep(std::uint32_t seen, std::uint64_t timeout_ns) {
    const timespec time{static_cast<time_t>(timeout_ns / kTimestampFrequency),
                        static_cast<long>(timeout_ns % kTimestampFrequency)};
    syscall(SYS_futex, &changes, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
  }
};

std::array<Bed, 64> beds;
Bed any_signal;  // of the thread that calls handlers

Bed& bed_of(const amd_signal_t& signal) {
  return beds[reinterpret_cast<std::uintptr_t>(&signal) / sizeof(amd_signal_t) % beds.size()];
}

}  // namespace

std::uint64_t timestamp_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kTimestampFrequency +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool satisfies(std::int64_t value, hsa_signal_condition_t condition, std::int64_t compared) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ: return value == compared;
    case HSA_SIGNAL_CONDITION_NE: return value != compared;
    case HSA_SIGNAL_CONDITION_LT: return value < compared;
    case HSA_SIGNAL_CONDITION_GTE: return value >= compared;
  }
  return false;
}

void signal_changed(const amd_signal_t& signal) {
  bed_of(signal).wake();
  any_signal.wake();
}

void all_signals_changed() {
  for (Bed& bed : beds) bed.wake();
  any_signal.wake();
}

std::int64_t wait_for(amd_signal_t& signal, const std::function<bool(std::int64_t)>& done,
                      std::uint64_t timeout_ns, const std::atomic<bool>* stop) {
  std::int64_t value = value_of(signal).load();
  for (int spin = 0; spin < kSpins && !done(value); spin++) {
    __builtin_ia32_pause();
    value = value_of(signal).load();
  }
  const std::uint64_t start_ns = timestamp_ns();
  Bed& bed = bed_of(signal);
  while (!done(value)) {
    const std::uint64_t passed_ns = timestamp_ns() - start_ns;
    if (passed_ns >= timeout_ns || (stop != nullptr && stop->load())) break;
    bed.sleepers.fetch_add(1);
    const std::uint32_t seen = bed.changes.load();
    value = value_of(signal).load();
    if (!done(value)) bed.sleep(seen, std::min(kLookAgain_ns, timeout_ns - passed_ns));
    bed.sleepers.fetch_sub(1);
    value = value_of(signal).load();
  }
  return value;
}

hsa_signal_t Signals::create(std::int64_t value, AgentMask agents) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    void* slab = memory_.allocate(0, kSlabBytes, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, agents);
    if (slab == nullptr) return {0};
    for (std::size_t at = kSlabBytes; at != 0; at -= sizeof(amd_signal_t)) {
      void* place = static_cast<char*>(slab) + at - sizeof(amd_signal_t);
      free_.push_back(new (place) amd_signal_t{});
    }
  }
  amd_signal_t* signal = free_.back();
  free_.pop_back();
  *signal = amd_signal_t{};
  value_of(*signal).store(value);
  signal->kind = AMD_SIGNAL_KIND_USER;
  return {reinterpret_cast<std::uint64_t>(signal)};
}

bool Signals::is_valid(hsa_signal_t signal) const {
  if (signal.handle == 0 || signal.handle % AMD_SIGNAL_ALIGN_BYTES != 0) return false;
  if (!memory_.find(signal_at(signal))) return false;
  return signal_at(signal)->kind == AMD_SIGNAL_KIND_USER;
}

bool Signals::destroy(hsa_signal_t signal) {
  if (!is_valid(signal)) return false;
  const auto allocation = memory_.find(signal_at(signal));
  if (allocation->origin == Origin::kAttached) {
    return memory_.detach(reinterpret_cast<const void*>(allocation->base));
  }
  const std::lock_guard lock(mutex_);
  signal_at(signal)->kind = AMD_SIGNAL_KIND_INVALID;
  // Used again as late as possible: a stale handle then rather names an invalid signal than another one.
  free_.push_front(signal_at(signal));
  return true;
}

SignalHandlers& SignalHandlers::instance() {
  static auto* handlers = new SignalHandlers;  // never destroyed: its thread may run while the process ends
  return *handlers;
}

void SignalHandlers::add(hsa_signal_t signal, hsa_signal_condition_t condition, std::int64_t compared,
                         hsa_amd_signal_handler handler, void* argument) {
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back({signal_at(signal), condition, compared, handler, argument});
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  added_.notify_one();
  any_signal.wake();
}

// Calls the handler of entry `at` if its condition holds, and moves `at` to the next entry. True: it was
// called.
bool SignalHandlers::call_one(std::size_t& at) {
  Entry entry;
  std::int64_t now = 0;
  {
    const std::lock_guard lock(mutex_);
    if (at >= entries_.size()) return false;
    entry = entries_[at];
    now = value_of(*entry.signal).load();
    if (!satisfies(now, entry.condition, entry.compared)) {
      at++;
      return false;
    }
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  // hsa_amd_signal_handler: true means that the handler stays.
  if (entry.handler(now, entry.argument)) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(entry);
  }
  return true;
}

void SignalHandlers::serve() {
  for (;;) {
    std::size_t count = 0;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !entries_.empty(); });
      count = entries_.size();
    }
    any_signal.sleepers.fetch_add(1);
    const std::uint32_t seen = any_signal.changes.load();
    bool called = false;
    for (std::size_t at = 0, looked = 0; looked < count; looked++) called = call_one(at) || called;
    if (!called) any_signal.sleep(seen, kLookAgain_ns);
    any_signal.sleepers.fetch_sub(1);
  }
}

}  // namespace tf::amd::hsa
