// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "rdma/device.h"
#include "rdma/loss.h"
#include "rdma/plane.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace tf::rdma {

enum class Side : std::uint8_t { kClient, kWorker };

// The parts of an endpoint. The planes are connected already.
struct Parts {
  std::unique_ptr<Device> device;
  std::unique_ptr<Plane> messages;
  std::unique_ptr<Plane> bulk;
  net::OwnedFd socket;
  LossPatience patience;
};

Result<std::unique_ptr<tf::Endpoint>> make_endpoint(Parts parts, Side side);

}  // namespace tf::rdma
