// SPDX-License-Identifier: Apache-2.0
// How long a queue pair waits for a peer that does not acknowledge. After each ack timeout it sends again;
// after the last retry it fails for good. Plain values.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/base/status.h"

namespace tf::rdma {

struct Retries {
  std::uint8_t ack_timeout = 14;  // 4.096 us * 2^n
  std::uint8_t count = 6;
};

inline constexpr std::uint8_t kAckTimeoutMin = 14;  // 67 ms: anything shorter mistakes congestion for loss
inline constexpr std::uint8_t kAckTimeoutMax = 18;  // 1.07 s
inline constexpr std::uint8_t kRetriesMin = 5;
inline constexpr std::uint8_t kRetriesMax = 6;  // 7 means for ever in some drivers
inline constexpr int kAckTimeoutStretch = 4;    // a device may stretch an ack timeout this many times

// Retries that wait as long as a host may be silent: a shorter outage (a switch that finds another path) must
// not end a session. All retries together, stretched as far as devices may, stay within `io_timeout`, if that
// is 2 s or more and the device can be that quick. With 30 s this leaves 6.4 s for a device that does not
// stretch.
Retries retries_within(std::chrono::milliseconds io_timeout);

// From TF_IO_TIMEOUT (transport/net/io_timeout.h).
Result<Retries> retries_from_environment();

}  // namespace tf::rdma
