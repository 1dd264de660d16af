// SPDX-License-Identifier: Apache-2.0
// The rdma transport, for builds that have it.
#include "rdma/transport.h"
#include "transport/factory/rdma_transport.h"

namespace tf {

const net::Transport& rdma_transport() { return rdma::transport(); }

}  // namespace tf
