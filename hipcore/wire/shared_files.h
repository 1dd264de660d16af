// SPDX-License-Identifier: Apache-2.0
// Descriptors that a worker passes to a client on its own host.
//
// If the snapshot in the HELLO reply says so, one byte follows on the control connection, with the
// descriptors: first the host window's file (HostAccess::kShared), then a socket (DeviceAccess::kMapped). On
// that socket follow the address and file of every lease whose LeaseMemory reply says `mapped`. All helpers
// block until their deadline.
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

// Send, or expect, the descriptors that `snapshot` announces. If it announces none, nothing travels.
Status send_shared_files(int socket, const WorkerSnapshot& snapshot, const SharedFiles& files,
                         Deadline deadline);
Result<SharedFiles> receive_shared_files(int socket, const WorkerSnapshot& snapshot, Deadline deadline);

struct LeaseSocket {
  net::OwnedFd worker;
  net::OwnedFd client;
};
Result<LeaseSocket> make_lease_socket();

Status send_lease_file(int socket, std::uint64_t address, int file, Deadline deadline);
// kProtocol: the file received is not the memory at `address`.
Result<net::OwnedFd> receive_lease_file(int socket, std::uint64_t address, Deadline deadline);

}  // namespace tf::protocol
