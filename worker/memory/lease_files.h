// SPDX-License-Identifier: Apache-2.0
// LeaseFiles: passes the memory of leases to a client on this host, which maps it at the same addresses and
// then reads and writes it without asking (DeviceAccess::kMapped). Belongs to the executor thread.
//
// A client may keep a mapping until it exits, even after returning the lease. The memory then counts against
// the client.
#pragma once

#include <cstdint>
#include <utility>

#include "hipcore/wire/gen/hip_table.h"
#include "transport/net/fd.h"
#include "worker/base/own_calls.h"

namespace tf::worker {

class LeaseFiles {
 public:
  // `socket`: the worker's end (hipcore/wire/shared_files.h); none: nothing is passed.
  LeaseFiles(const protocol::HipTable& hip, OwnCalls& own_calls, net::OwnedFd socket)
      : hip_(hip), own_calls_(own_calls), socket_(std::move(socket)) {}

  // Passes the memory at `address`. False: the client must do without it, from now on.
  bool pass(std::uint64_t address, hipMemGenericAllocationHandle_t memory);

 private:
  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  net::OwnedFd socket_;
};

}  // namespace tf::worker
