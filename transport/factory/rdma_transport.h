// SPDX-License-Identifier: Apache-2.0
// The rdma transport of this build: rdma.cc where it has one, else no_rdma.cc.
#pragma once

#include "transport/net/transport.h"

namespace tf {

const net::Transport& rdma_transport();

}  // namespace tf
