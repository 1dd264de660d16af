// SPDX-License-Identifier: Apache-2.0
// Picks ack timeout and retry count to fit TF_IO_TIMEOUT.
#include "rdma/retries.h"

#include "transport/net/io_timeout.h"

namespace tf::rdma {
namespace {

constexpr std::chrono::nanoseconds kAckUnit{4096};

}  // namespace

// A compromise. If a packet is lost among others, the peer misses it and asks for it at once. If it is lost
// alone, as a call or its answer may be, nobody misses it before the ack timeout: with 1 % loss and 1.07 s a
// round trip takes 20 ms longer on average, with 67 ms it takes 1.3 ms longer. On the other hand a queue pair
// cannot be made more patient later (IBV_QP_TIMEOUT cannot be changed in RTS), does not recover once it has
// given up, and with 67 ms gives up after half a second. RDMA fabrics lose almost nothing, thanks to flow
// control, but links do go down and come back. So we take the longest ack timeout that fits, up to a second;
// beyond that a lone loss would look like a hang. But not with fewer retries: with kRetriesMin even a link
// that loses 5 % each way fails one packet in a million.
Retries retries_within(std::chrono::milliseconds io_timeout) {
  for (std::uint8_t exponent = kAckTimeoutMax; exponent > kAckTimeoutMin; --exponent)
    for (std::uint8_t count = kRetriesMax; count >= kRetriesMin; --count)
      if (kAckUnit * (std::int64_t{1} << exponent) * kAckTimeoutStretch * (count + 1) <= io_timeout)
        return {.ack_timeout = exponent, .count = count};
  return {.ack_timeout = kAckTimeoutMin, .count = kRetriesMax};
}

Result<Retries> retries_from_environment() {
  const Result<std::chrono::seconds> timeout = net::io_timeout_from_environment();
  if (!timeout) return timeout.status();
  return retries_within(timeout.value());
}

}  // namespace tf::rdma
