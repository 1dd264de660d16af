// SPDX-License-Identifier: Apache-2.0
// LeaseFiles: gives a client on this host the memory of its leases, which it maps at the same addresses and
// then reads and writes without asking (DeviceAccess::kMapped). Belongs to the executor thread.
//
// What a client has mapped it may keep: memory that it gives back is its own, and counts against it, until it
// lets go of it or ends.
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

  // Passes the memory that stands at `address`. False: the client must do without, from now on for good.
  bool pass(std::uint64_t address, hipMemGenericAllocationHandle_t memory);

 private:
  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  net::OwnedFd socket_;
};

}  // namespace tf::worker
