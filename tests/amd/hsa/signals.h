// SPDX-License-Identifier: Apache-2.0
// Signals: 64-bit values that the host, queues, copies and kernels change, and that others wait for.
//
// The handle of a signal is the address of its amd_signal_t (amd_hsa_signal.h): device code relies on that.
// Signals lie in memory that every agent reaches. A kernel changes a value without telling anyone, so every
// wait looks again after a millisecond at the latest.
//
// Sources of facts: hsa.h 5.2.3 ("Signals"), hsa_ext_amd.h, amd_hsa_signal.h.
#pragma once

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/amd/hsa/memory.h"

namespace tf::amd::hsa {

// Nanoseconds of a monotonic clock: HSA_SYSTEM_INFO_TIMESTAMP, with a frequency of 10^9.
std::uint64_t timestamp_ns();
constexpr std::uint64_t kTimestampFrequency = 1'000'000'000;
constexpr std::uint64_t kForever = UINT64_MAX;  // as a time to wait

inline amd_signal_t* signal_at(hsa_signal_t signal) { return reinterpret_cast<amd_signal_t*>(signal.handle); }
inline std::atomic_ref<std::int64_t> value_of(amd_signal_t& signal) {
  return std::atomic_ref<std::int64_t>(const_cast<std::int64_t&>(signal.value));
}

bool satisfies(std::int64_t value, hsa_signal_condition_t condition, std::int64_t compared);

// Wakes whoever waits for the signal. Called after its value has changed.
void signal_changed(const amd_signal_t& signal);
// Wakes everybody: after a kernel, which may have written to any signal.
void all_signals_changed();

// Waits until `done(value)` holds, for so many ns, or until `stop` is raised. Returns the value seen last. A
// signal of another process is seen within a millisecond.
std::int64_t wait_for(amd_signal_t& signal, const std::function<bool(std::int64_t)>& done,
                      std::uint64_t timeout_ns, const std::atomic<bool>* stop = nullptr);

// Makes and keeps signals.
class Signals {
 public:
  explicit Signals(Memory& memory) : memory_(memory) {}
  // Handle 0: no memory. `agents`: of all of this process.
  hsa_signal_t create(std::int64_t value, AgentMask agents);
  // A signal of another process, in memory attached here.
  void add_attached(hsa_signal_t signal);
  bool destroy(hsa_signal_t signal);
  bool is_valid(hsa_signal_t signal) const;

 private:
  Memory& memory_;
  mutable std::mutex mutex_;
  std::deque<amd_signal_t*> free_;
};

// The thread that calls handlers (hsa_amd_signal_async_handler). One for the process; it starts with the
// first handler.
class SignalHandlers {
 public:
  static SignalHandlers& instance();
  void add(hsa_signal_t signal, hsa_signal_condition_t condition, std::int64_t compared,
           hsa_amd_signal_handler handler, void* argument);

 private:
  struct Entry {
    amd_signal_t* signal = nullptr;
    hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
    std::int64_t compared = 0;
    hsa_amd_signal_handler handler = nullptr;
    void* argument = nullptr;
  };
  void serve();
  bool call_one(std::size_t& at);

  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<Entry> entries_;
  std::thread thread_;
};

}  // namespace tf::amd::hsa
