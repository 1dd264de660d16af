// SPDX-License-Identifier: Apache-2.0
// How the two sides of a shm endpoint map the same segment. Over the lane's Unix socket, after the attach
// frame, the worker's side sends one Offer with the memfd, or an Offer that says why there is none.
//
// The worker has asked who the client is before it read the attach frame (worker/supervisor/door.h). The
// client asks here who the worker is (SO_PEERCRED, which cannot be forged).
#pragma once

#include "shm/segment.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/fd.h"

namespace tf::shm {

// What travels with the memfd.
//   offset  size  field
//   0       8     magic      kSegmentMagic
//   8       4     version    kSegmentVersion
//   12      4     code       0, or the tf::Code with which the worker refuses (then without a memfd)
//   16      112   reason     text, ends with the first zero; all zero with code 0
struct Offer {
  std::uint64_t magic = kSegmentMagic;
  std::uint32_t version = kSegmentVersion;
  std::uint32_t code = 0;
  char reason[112] = {};
};
static_assert(sizeof(Offer) == 128 && offsetof(Offer, reason) == 16);
static_assert(std::has_unique_object_representations_v<Offer>);

// Client side. Ok if the process that listens at `address` runs as our user, as root, or as the user whose
// folder the socket is in: then nobody else can have put it there. Else kPermission. `socket` is connected to
// it.
Status check_worker(int socket, const net::Address& address);
// Worker side: makes the segment and sends it to the client.
Result<Segment> offer_segment(int socket, Deadline deadline);
// Worker side, instead of a segment: tells the client the reason. Best effort; never blocks.
void refuse_segment(int socket, const Status& reason);
// Client side. If the worker refused, its reason.
// REQUIRES: check_worker()
Result<Segment> receive_segment(int socket, Deadline deadline);

}  // namespace tf::shm
