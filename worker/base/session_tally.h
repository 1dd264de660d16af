// SPDX-License-Identifier: Apache-2.0
// SessionTally: what a session has used so far, for the worker's audit lines. Each number has writers that
// add to it and is read when they have ended, so all of it is relaxed.
#pragma once

#include <atomic>
#include <cstdint>

namespace tf::worker {

struct SessionTally {
  std::atomic<std::uint64_t> requests{0};  // executed; a posted call is one, too
  // Of messages, with their headers, and of payload beside them.
  std::atomic<std::uint64_t> message_bytes_to_worker{0};
  std::atomic<std::uint64_t> message_bytes_to_client{0};
  std::atomic<std::uint64_t> payload_bytes_to_worker{0};
  std::atomic<std::uint64_t> payload_bytes_to_client{0};
  std::uint64_t device_ns = 0;               // the runtime adds to it, atomically (hipRemoteShowBusyTime)
  std::atomic<std::uint32_t> has_device{0};  // whether it does

  // By several threads.
  static void add(std::atomic<std::uint64_t>& number, std::uint64_t amount) {
    number.fetch_add(amount, std::memory_order_relaxed);
  }
  // By one thread, which is the only writer of that number.
  static void add_alone(std::atomic<std::uint64_t>& number, std::uint64_t amount) {
    number.store(number.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

}  // namespace tf::worker
