// SPDX-License-Identifier: Apache-2.0
// How patient a queue pair is with a peer that does not acknowledge: after each ack timeout it sends again,
// and after the last of its retries it fails, for good. Plain values.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/base/status.h"

namespace tf::rdma {

struct Retries {
  std::uint8_t ack_timeout = 14;  // 4.096 us * 2^n
  std::uint8_t count = 6;
};

inline constexpr std::uint8_t kAckTimeoutMin = 14;  // 67 ms: shorter, congestion would be taken for loss
inline constexpr std::uint8_t kAckTimeoutMax = 18;  // 1.07 s
inline constexpr std::uint8_t kRetriesMin = 5;
inline constexpr std::uint8_t kRetriesMax = 6;  // 7 means for ever to some drivers
inline constexpr int kAckTimeoutStretch = 4;    // an ack timeout may take a device so many times as long

// As patient as a host may be silent: what is lost for a shorter time (a switch that looks for another way)
// shall not end a session. All retries together, stretched as far as devices may, stay within `io_timeout`,
// if that is 2 s or more and the device can be so quick. Of 30 s that leaves 6.4 s for a device that does not
// stretch.
Retries retries_within(std::chrono::milliseconds io_timeout);

// Of TF_IO_TIMEOUT (transport/net/io_timeout.h).
Result<Retries> retries_from_environment();

}  // namespace tf::rdma
