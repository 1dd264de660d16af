// SPDX-License-Identifier: Apache-2.0
// The host window: a range of addresses for host memory that devices use directly (pinned and managed
// memory), the same on both sides.
//
// The range is reserved while the process warms up. For a client on this host it becomes one sealed file that
// both sides map: a copy then reads or writes the application's own bytes, and kernels follow host pointers.
// For other clients it is a mirror, memory of this process of which the client has a copy (host_mirror.h).
// What the client then does with it: host_parts.h. Executor thread.
#pragma once

#include "hipcore/wire/device_snapshot.h"
#include "transport/net/fd.h"

namespace tf::worker {

// Reserves a range for the snapshot's host window; none if no candidate is free or no device would use it.
void reserve_host_window(protocol::WorkerSnapshot& snapshot);
// Turn the reserved range into memory, and record that in the snapshot. The client maps the returned file; it
// is empty for a mirror, or if there is no window.
net::OwnedFd share_host_window(protocol::WorkerSnapshot& snapshot);
void mirror_host_window(protocol::WorkerSnapshot& snapshot);

}  // namespace tf::worker
