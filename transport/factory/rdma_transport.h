// SPDX-License-Identifier: Apache-2.0
// The rdma transport of this build. Defined in rdma.cc, or in no_rdma.cc where the build has none.
#pragma once

#include "transport/net/transport.h"

namespace tf {

const net::Transport& rdma_transport();

}  // namespace tf
