// SPDX-License-Identifier: Apache-2.0
// The rdma transport: two planes over queue pairs, met over one TCP connection to the worker's address. Any
// thread.
#pragma once

#include <memory>

#include "net/transport.h"
#include "rdma/device.h"
#include "rdma/retries.h"
#include "rdma/verbs.h"

namespace tf::rdma {

struct Options {
  DeviceOptions device;
  Retries retries;
};

// With the system's libibverbs and the options of the environment, read at the first call.
const net::Transport& transport();
// `verbs` outlives it.
std::unique_ptr<net::Transport> make_transport(const Verbs& verbs, const Options& options);

}  // namespace tf::rdma
