// SPDX-License-Identifier: Apache-2.0
// SessionTally: what a session has done and used so far, in memory that the supervisor reads: for the audit
// lines, and for metrics. Nothing else depends on the numbers, so all of it is relaxed. Most numbers have one
// writer, which adds without a locked instruction.
//
// The session process runs what its client makes it run, so the supervisor believes none of it further than
// worker/supervisor/session_counts.h says.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "worker/base/limits.h"
#include "worker/base/wait_times.h"

namespace tf::worker {

inline constexpr std::size_t kCallDomains =
    16;  // high bytes of opcodes; whatever is above counts as the last

// What a session tells its client of, besides the answers to calls.
enum class SessionFault : std::size_t {
  kPostedCall,  // a posted call that failed
  kStreamWork,  // earlier work of a stream that failed
  kDevice,      // a device that has failed
  kEnd,
};

struct SessionTally {
  using Number = std::atomic<std::uint64_t>;

  // Requests executed, by the domain of their opcode: those whose client waits for the answer, and posted
  // ones.
  std::array<std::array<Number, 2>, kCallDomains> calls{};
  // Of messages, with their headers, and of payload beside them.
  Number message_bytes_to_worker{0};
  Number message_bytes_to_client{0};
  Number payload_bytes_to_worker{0};
  Number payload_bytes_to_client{0};
  std::array<Number, kLimits> refused{};  // by each limit
  std::array<Number, static_cast<std::size_t>(SessionFault::kEnd)> faults{};
  WaitTimes device_waits;  // of requests that wait for a device's work, where it was not done yet
  // Right now: requests taken from the transport and not executed yet.
  std::atomic<std::uint32_t> queued{0};
  std::uint64_t device_ns = 0;               // the runtime adds to it, atomically (hipRemoteShowBusyTime)
  std::atomic<std::uint32_t> has_device{0};  // whether it does

  // A posted call is one, too.
  std::uint64_t requests() const {
    std::uint64_t sum = 0;
    for (const auto& domain : calls)
      for (const Number& number : domain) sum += number.load(std::memory_order_relaxed);
    return sum;
  }
  Number& calls_of(std::uint16_t opcode, bool is_posted) {
    const std::size_t domain = opcode >> 8;
    return calls[domain < kCallDomains ? domain : kCallDomains - 1][is_posted ? 1 : 0];
  }
  void fault(SessionFault kind) { add(faults[static_cast<std::size_t>(kind)], 1); }

  // By several threads.
  static void add(Number& number, std::uint64_t amount) {
    number.fetch_add(amount, std::memory_order_relaxed);
  }
  // By one thread, which is the only writer of that number.
  static void add_alone(Number& number, std::uint64_t amount) {
    number.store(number.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

}  // namespace tf::worker
