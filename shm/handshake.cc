// SPDX-License-Identifier: Apache-2.0
#include "shm/handshake.h"

#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "net/socket.h"

namespace tf::shm {
namespace {

struct Offer {
  std::uint64_t magic = kSegmentMagic;
  std::uint32_t version = kSegmentVersion;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Offer) == 16 && std::has_unique_object_representations_v<Offer>);

}  // namespace

Status check_peer(int socket) {
  Result<net::PeerCredentials> peer = net::peer_credentials(socket);
  if (!peer) return peer.status();
  if (peer->uid == 0 || peer->uid == ::getuid()) return Status::ok();
  return {Code::kPermission, "shm: process " + std::to_string(peer->pid) + " runs as user " +
                                 std::to_string(peer->uid) + ", we as " + std::to_string(::getuid()) +
                                 "; only the same user and root may connect"};
}

Result<Segment> offer_segment(int socket, Deadline deadline) {
  TF_RETURN_IF_ERROR(check_peer(socket));
  net::OwnedFd fd;
  Result<Segment> segment = Segment::create(fd);
  if (!segment) return segment;
  const Offer offer;
  const int fds[] = {fd.get()};
  TF_RETURN_IF_ERROR(net::send_with_fds(socket, std::as_bytes(std::span(&offer, 1)), fds, deadline));
  return segment;
}

Result<Segment> receive_segment(int socket, Deadline deadline) {
  TF_RETURN_IF_ERROR(check_peer(socket));
  Offer offer;
  std::vector<net::OwnedFd> fds;
  TF_RETURN_IF_ERROR(
      net::receive_with_fds(socket, std::as_writable_bytes(std::span(&offer, 1)), fds, deadline));
  const Offer expected;
  if (std::memcmp(&offer, &expected, sizeof offer) != 0)
    return Status{Code::kProtocol, "shm: the worker's offer has a wrong magic, version or reserved field"};
  if (fds.size() != 1)
    return Status{Code::kProtocol, "shm: the worker's offer carries " + std::to_string(fds.size()) +
                                       " descriptors instead of one"};
  return Segment::open(fds[0]);
}

}  // namespace tf::shm
