// SPDX-License-Identifier: Apache-2.0
// Descriptors that a worker passes to a client on its own host.
//
// After a HELLO reply whose snapshot says so, one byte follows on the control connection with them: of the
// host window's file (HostAccess::kShared) first, then of a socket (DeviceAccess::kMapped). On that socket
// the memory of every lease follows whose LeaseMemory reply says `mapped`: its address, and its file. All
// helpers block until their deadline.
#pragma once

#include <cstdint>

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::protocol {

struct SharedFiles {
  net::OwnedFd host_window;
  net::OwnedFd leases;
};

// Sends, or expects, those that `snapshot` speaks of. Nothing travels when it speaks of none.
Status send_shared_files(int socket, const WorkerSnapshot& snapshot, const SharedFiles& files,
                         Deadline deadline);
Result<SharedFiles> receive_shared_files(int socket, const WorkerSnapshot& snapshot, Deadline deadline);

struct LeaseSocket {
  net::OwnedFd worker;
  net::OwnedFd client;
};
Result<LeaseSocket> make_lease_socket();

Status send_lease_file(int socket, std::uint64_t address, int file, Deadline deadline);
// kProtocol: what came is not the memory at `address`.
Result<net::OwnedFd> receive_lease_file(int socket, std::uint64_t address, Deadline deadline);

}  // namespace tf::protocol
