// SPDX-License-Identifier: Apache-2.0
// WorkerTrace: gets what the worker has executed into this process's trace (hip-remote run --trace).
//
// The worker keeps what it has executed until it is asked. It is asked by threads that have just waited for
// an answer anyhow, after some thousand requests that left work, and at the end of the process. The answers
// come as notices, on the thread that drives the endpoint. The worker's clock is compared with ours by round
// trips: the answer was made between the two looks at our clock. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/wire/gen/messages.h"
#include "transport/base/status.h"
#include "transport/request_queue.h"

namespace tf::proxy {

class WorkerTrace {
 public:
  explicit WorkerTrace(RequestQueue& queue) : queue_(queue) {}
  WorkerTrace(const WorkerTrace&) = delete;
  WorkerTrace& operator=(const WorkerTrace&) = delete;

  // If this process writes a trace: asks the worker to note what it executes. Before the first request of the
  // program.
  void begin();
  // A request was posted that leaves work.
  void posted() { posts_.fetch_add(1, std::memory_order_relaxed); }  // only a count
  // Asks for what was executed, if there may be much of it. Call it after a wait for the executor's answer.
  void after_wait() {
    if (on_.load(std::memory_order_relaxed) && posts_.load(std::memory_order_relaxed) >= kFetchAfter)
        [[unlikely]]
      fetch_next();
  }
  // The process ends: waits for what is executed still, for a limited time.
  void finish();

  // Executions, and FunctionNamed. kProtocol: nobody asked for it, or it is none.
  Status take_executions(std::span<const std::byte> tail);
  Status take_name(std::uint64_t function, std::span<const std::byte> name);

 private:
  static constexpr std::uint32_t kFetchAfter = 4096;

  // False: no answer, or a refusal.
  bool ask(std::uint16_t opcode, std::span<const std::byte> request, std::span<std::byte> reply);
  void compare_clocks();
  void fetch_next();
  // kUnfinished: only what has not been executed yet is left.
  enum class Fetched { kAll, kMore, kUnfinished };
  Fetched fetch();
  // True: kUnfinished.
  bool fetch_all();

  RequestQueue& queue_;
  std::atomic<bool> on_{false};  // set once, before the program's first request
  std::atomic<std::uint32_t> posts_{0};
  std::atomic_flag asking_{};  // by one thread
};

}  // namespace tf::proxy
