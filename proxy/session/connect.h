// SPDX-License-Identifier: Apache-2.0
// Connects according to the settings: control connection, HELLO, transport, lanes. Blocks for at most the
// connect timeout.
#pragma once

#include <memory>
#include <string>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/shared_files.h"
#include "proxy/base/environment.h"
#include "transport/base/status.h"
#include "transport/endpoint.h"
#include "transport/net/stream.h"

namespace tf::proxy {

// The parts from which a client is built.
struct Connected {
  std::unique_ptr<Endpoint> endpoint;
  protocol::WorkerSnapshot snapshot;  // for all devices of the worker
  std::string walls;                  // around the session, in the worker's words
  std::string share;                  // of its tenant, as hip-worker --limit takes it; empty: no limits
  net::OwnedStream control;
  protocol::SharedFiles files;
  int only_device = -1;             // TF_DEVICE_ID
  hipcore::VisibleDevices visible;  // of these, or of all
  bool streams_limited = false;     // protocol::HelloReply
  bool mirrors_pinned = true;       // TF_MIRROR
  FineGrained fine_grained = FineGrained::kAuto;
  bool watches_pages = true;  // false: as on a system that does not say which pages were written
};

// The failure says what was tried and what to do.
Result<Connected> connect(const Settings& settings);

}  // namespace tf::proxy
