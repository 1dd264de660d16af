// SPDX-License-Identifier: Apache-2.0
// Sender: everything that a session sends to its client on the message plane: replies, Faults, CallbackDue.
//
// Any thread. Never blocks: messages that do not fit the ring wait, in order, in an outbox. The executor
// takes no further request before the outbox is empty (flush()), which bounds it: one batch of requests, the
// waiter threads and the callbacks. So a client that does not read its replies stops only its own session.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transport/base/biased_mutex.h"
#include "transport/endpoint.h"
#include "worker/base/kernel_output.h"
#include "worker/base/session_tally.h"

namespace tf::worker {

inline constexpr std::size_t kOutboxMessagesMax = 16384;

class Sender {
 public:
  // All outlive it. `output`: what the session's kernels print; null: nobody collects it.
  Sender(Endpoint& endpoint, const KernelOutput* output, SessionTally& tally)
      : endpoint_(endpoint), output_(output), tally_(tally) {}

  // Sends header + head + tail; fills in payload_length. A failure becomes the endpoint's sticky failure.
  void send(FrameHeader header, std::span<const std::byte> head, std::span<const std::byte> tail = {});

  // What kernels have printed so far, as clients count it: bytes modulo 2^32.
  std::uint32_t printed() const {
    return output_ != nullptr ? static_cast<std::uint32_t>(output_->printed()) : 0;
  }

  // What the session counts.
  SessionTally& tally() { return tally_; }

  // Afterwards nothing is sent, and no thread touches the endpoint through this object.
  void close();

  // Executor: moves the outbox into the ring as far as there is room. True when it is empty.
  bool flush();
  // Pairs with the release in send() and flush().
  bool backlogged() const { return backlogged_.load(std::memory_order_acquire); }

 private:
  // False: no room.
  bool try_send(std::span<const std::byte> frame, std::span<const std::byte> head,
                std::span<const std::byte> tail) TF_REQUIRES(mutex_);

  Endpoint& endpoint_;
  const KernelOutput* const output_;
  SessionTally& tally_;
  BiasedMutex mutex_;  // the endpoint's producer role, and the outbox
  std::deque<std::vector<std::byte>> outbox_ TF_GUARDED_BY(mutex_);
  bool closed_ TF_GUARDED_BY(mutex_) = false;
  std::atomic<bool> backlogged_{false};
};

}  // namespace tf::worker
