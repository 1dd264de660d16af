// SPDX-License-Identifier: Apache-2.0
// Counts what calls cost: how often and how long each HIP function waited, what it posted, what it copied.
//
// Switched on by TF_STATS, the directory where every process leaves its record (record.h); read at the
// process's first call. Off, a call pays a load and a branch that is never taken. On, it pays clock reads and
// relaxed additions to its record. A child of fork() has its own record. All functions: any thread.
//
// A wait counts for the function that the program called, however deep in the library it happens. A wait
// inside another one is part of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/gen/functions.h"
#include "proxy/stats/record.h"
#include "proxy/stats/trace.h"
#include "transport/request_queue.h"

namespace tf::proxy::stats {

// kLogging: calls are logged (log_calls()), and nothing is counted.
enum class Switch : std::uint8_t { kUndecided, kOff, kOn, kLogging };

namespace detail {
// Relaxed: a thread that finds it on loads the record with acquire.
extern std::atomic<Switch> counting;
struct ThreadCounts;
// Returns the calling thread's own, for the end: finding them again would cost a function call.
ThreadCounts& begin_call(Function function);
void end_call(ThreadCounts& own);
void begin_wait();
void end_wait(Wait kind);
}  // namespace detail

inline bool counting() { return detail::counting.load(std::memory_order_relaxed) == Switch::kOn; }

// One call by the program; nested calls are part of it.
class CallScope {
 public:
  explicit CallScope(Function function) {
    if (detail::counting.load(std::memory_order_relaxed) == Switch::kOff) [[likely]]
      return;
    own_ = &detail::begin_call(function);
  }
  ~CallScope() {
    if (own_ != nullptr) [[unlikely]]
      detail::end_call(*own_);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  detail::ThreadCounts* own_ = nullptr;  // null: nothing is counted
};

class WaitScope {
 public:
  explicit WaitScope(Wait kind) : kind_(kind), open_(counting()) {
    if (open_) [[unlikely]]
      detail::begin_wait();
  }
  ~WaitScope() {
    if (open_) [[unlikely]]
      detail::end_wait(kind_);
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  Wait kind_;
  bool open_;
};

// From now on each of the program's calls is a line of the log, counted or not.
void log_calls(bool on);

// Observes the queue's waits; null while nothing is counted.
WaitObserver* queue_observer();

void count_post();
void count_to_device(std::uint64_t bytes);
void count_from_device(std::uint64_t bytes);
void note_transport(std::string_view name);
void note_lost();
// The process ends normally.
void note_end();

// This process writes a trace. Any thread, also before its first call.
bool is_tracing();
// For the trace. Nothing while there is none.
void note_execution(const protocol::Execution& execution);
void name_kernel(std::uint64_t function, std::string_view name);
void note_worker_clock(const WorkerClock& clock);
void note_worker_limits(std::uint64_t executions_left_out, std::uint64_t executions_error_ns);

// The waits of this thread inside it are the library's own business: they are not counted.
class UnseenScope {
 public:
  UnseenScope();
  ~UnseenScope();
  UnseenScope(const UnseenScope&) = delete;
  UnseenScope& operator=(const UnseenScope&) = delete;
};

// For tests: count into records under `directory`, or (empty) decide again at the next call.
void restart(const std::string& directory);
// The file of this process's record; empty: none.
std::string record_path();

}  // namespace tf::proxy::stats
