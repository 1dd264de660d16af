// SPDX-License-Identifier: Apache-2.0
// The rdma transport: two planes over queue pairs, met over one TCP connection to the worker's address. Any
// thread.
#pragma once

#include <chrono>
#include <memory>

#include "rdma/device.h"
#include "rdma/loss.h"
#include "rdma/retries.h"
#include "rdma/verbs.h"
#include "transport/net/transport.h"

namespace tf::rdma {

// How long an end that is on its way to an endpoint waits for the other.
struct SetupPatience {
  std::chrono::milliseconds hello{5000};  // worker: for the client's Hello and Ready together
  // Client: for the first request. Three tries of the longest ack timeout, and less than the worker waits for
  // Ready. How patient the queue pairs are later says nothing about whether there is a way at all.
  std::chrono::milliseconds probe{4000};
};

struct Options {
  DeviceOptions device;
  Retries retries;
  SetupPatience setup;
  LossPatience loss;
};

// Devices and retries; kInvalidArgument names the variable that cannot be understood.
Result<Options> options_from_environment();

// With the system's libibverbs and the options of the environment, read at the first call.
const net::Transport& transport();
// `verbs` outlives it.
std::unique_ptr<net::Transport> make_transport(const Verbs& verbs, const Options& options);

}  // namespace tf::rdma
