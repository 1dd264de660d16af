// SPDX-License-Identifier: Apache-2.0
// The rdma transport: two planes over queue pairs, set up over one TCP connection to the worker's address.
// Any thread.
#pragma once

#include <chrono>
#include <memory>

#include "rdma/device.h"
#include "rdma/loss.h"
#include "rdma/retries.h"
#include "rdma/verbs.h"
#include "transport/net/transport.h"

namespace tf::rdma {

inline constexpr net::TransportKind kKind{2};  // on the wire

// How long each end waits for the other while an endpoint is set up.
struct SetupPatience {
  std::chrono::milliseconds hello{5000};  // worker: for the client's Hello and Ready together
  // Client: for the first request. Covers three tries with the longest ack timeout, and is shorter than the
  // worker's wait for Ready. Independent of the retries used later: this only finds out whether there is a
  // path at all.
  std::chrono::milliseconds probe{4000};
};

struct Options {
  DeviceOptions device;
  Retries retries;
  SetupPatience setup;
  LossPatience loss;
};

// Devices and retries. kInvalidArgument names the variable that cannot be parsed.
Result<Options> options_from_environment();

// With the system's libibverbs and options from the environment, read at the first call.
const net::Transport& transport();
// `verbs` outlives it.
std::unique_ptr<net::Transport> make_transport(const Verbs& verbs, const Options& options);

}  // namespace tf::rdma
