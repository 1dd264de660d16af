// SPDX-License-Identifier: Apache-2.0
// How the two sides of a shm endpoint come to map one segment. Over the lane's Unix socket, after the attach
// frame, the worker's side sends 16 bytes {magic u64, version u32, reserved u32} with the memfd.
// Both sides check that the peer runs as the same user (or is root): SO_PEERCRED, which cannot be forged.
#pragma once

#include "net/fd.h"
#include "shm/segment.h"
#include "transport/deadline.h"
#include "transport/status.h"

namespace tf::shm {

// kPermission when the peer of a Unix socket is neither root nor of our user.
Status check_peer(int socket);
// Worker side: makes the segment and hands it over.
Result<Segment> offer_segment(int socket, Deadline deadline);
// Client side.
Result<Segment> receive_segment(int socket, Deadline deadline);

}  // namespace tf::shm
