// SPDX-License-Identifier: Apache-2.0
// Executor: one client's requests, executed strictly in order against one HIP runtime.
//
// Threads. The executor (the thread that calls run()) takes requests, owns the session's state, and is the
// endpoint's consumer. A mover thread drives the bulk plane. Waiter threads sit in the runtime's blocking
// calls, compiling threads in its hiprtc. Callback threads belong to the runtime. Any of them may use end(),
// drain() and ending(), and what session_state.h lists; everything else belongs to the executor.
//
// The executor never blocks for good. Every wait for the device or for payload goes through wait_until(),
// which keeps payload moving and takes requests from the ring, to make room. What it waits for never depends
// on a request behind it: that a host function is done arrives on the control connection (callbacks.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/endpoint.h"
#include "worker/base/life.h"
#include "worker/session/dispatch.h"
#include "worker/session/session_state.h"

namespace tf::worker {

inline constexpr std::size_t kRequestBatchMax = 32;        // polled at once, and executed if prompt
inline constexpr std::size_t kLookaheadMessagesMax = 256;  // taken from the ring while the executor waits
inline constexpr std::size_t kLookaheadBytesMax = 4 << 20;

class Executor final : public Life, private MessageSink {
 public:
  Executor(SessionSetup setup, const DispatchTable& handlers);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // Serves until the client says goodbye, its connection ends, or it breaks the protocol. Returns the reason:
  // ok after Goodbye or drain().
  Status run();
  void end(Status reason) override;
  void drain() override { draining_.store(true, std::memory_order_release); }  // pairs with serve()
  // After Goodbye or drain(). Any thread.
  bool draining() const { return draining_.load(std::memory_order_acquire); }

  SessionState& state() { return state_; }

 private:
  struct Batch {
    struct Entry {
      FrameHeader header;
      std::size_t offset = 0;
    };
    std::vector<std::byte> bytes;
    std::vector<Entry> entries;
    std::size_t next = 0;

    bool exhausted() const { return next == entries.size(); }
    void clear();
    void add(const FrameHeader& header, std::span<const std::byte> payload);
    std::span<const std::byte> payload(const Entry& entry) const;
  };

  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;
  void show_queue();  // to who reads the tally
  Status serve();
  Status step();
  Status check_idle();
  Status wait_for_room();
  void execute(const Dispatch& what, const FrameHeader& header, std::span<const std::byte> payload);
  void run_handler(Handler handler, const FrameHeader& header, std::span<const std::byte> payload);
  void pause(unsigned round) override;
  void look_ahead();

  Endpoint& endpoint_;
  const DispatchTable handlers_;
  SessionState state_;
  Batch current_;    // being executed: requests not executed while polling
  Batch lookahead_;  // taken from the ring while the executor waited
  bool in_wait_ = false;
  std::uint64_t calls_seen_ = 0;  // the tally's, when it was last asked whether the session is idle
  std::chrono::steady_clock::time_point idle_since_ = std::chrono::steady_clock::now();
  std::atomic<bool> draining_{false};
};

}  // namespace tf::worker
