// SPDX-License-Identifier: Apache-2.0
// From settings to an endpoint: control connection, HELLO, transport, lanes. Blocks at most the connect
// timeout.
#pragma once

#include <memory>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/shared_files.h"
#include "proxy/base/environment.h"
#include "transport/base/status.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace tf::proxy {

// What a client is made from.
struct Connected {
  std::unique_ptr<Endpoint> endpoint;
  protocol::WorkerSnapshot snapshot;  // of all of the worker's devices
  net::OwnedFd control;
  protocol::SharedFiles files;
  int only_device = -1;  // TF_DEVICE_ID
};

// The failure says what was tried and what to do.
Result<Connected> connect(const Settings& settings);

}  // namespace tf::proxy
