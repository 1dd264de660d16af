// SPDX-License-Identifier: Apache-2.0
// Passes the segment's memfd over a Unix socket, and checks who the worker is.
#include "shm/handshake.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "transport/base/peers_words.h"
#include "transport/net/socket.h"

namespace tf::shm {
namespace {

Status check_offer(const Offer& offer) {
  const Offer expected;
  if (offer.magic != expected.magic || offer.version != expected.version)
    return {Code::kProtocol, "shm: the worker's offer has a wrong magic or version"};
  if (offer.code == 0) {
    if (std::memcmp(&offer, &expected, sizeof offer) == 0) return Status::ok();
    return {Code::kProtocol, "shm: the worker's offer has a reason and no code"};
  }
  const bool is_known = offer.code <= static_cast<std::uint32_t>(Code::kInternal);
  return {is_known ? static_cast<Code>(offer.code) : Code::kProtocol,
          "shm: the worker refused: " + peers_words(offer.reason)};
}

// Whether only `user` and root can make a socket at `path`.
bool is_folder_of(const std::string& path, uid_t user) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 && info.st_uid == user &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

Status check_worker(int socket, const net::Address& address) {
  Result<net::PeerCredentials> worker = net::peer_credentials(socket);
  if (!worker) return worker.status();
  if (worker->uid == 0 || worker->uid == ::geteuid()) return Status::ok();
  const std::string& path = address.path();
  if (!path.starts_with('@') && is_folder_of(path, worker->uid)) return Status::ok();
  return {
      Code::kPermission,
      "shm: the worker at " + address.to_string() + " runs as user " + std::to_string(worker->uid) +
          ", which is neither this program's user nor root, and anybody may have started it: the socket's "
          "folder has to be that user's, and writable for no other"};
}

Result<Segment> offer_segment(int socket, Deadline deadline) {
  net::OwnedFd fd;
  Result<Segment> segment = Segment::create(fd);
  if (!segment) return segment;
  const Offer offer;
  const int fds[] = {fd.get()};
  TF_RETURN_IF_ERROR(net::send_with_fds(socket, std::as_bytes(std::span(&offer, 1)), fds, deadline));
  return segment;
}

void refuse_segment(int socket, const Status& reason) {
  Offer offer;
  offer.code = static_cast<std::uint32_t>(reason.code());
  reason.message().copy(offer.reason, sizeof offer.reason - 1);
  // The client gets it or sees the socket close: either ends its attempt.
  (void)::send(socket, &offer, sizeof offer, MSG_DONTWAIT | MSG_NOSIGNAL);
}

Result<Segment> receive_segment(int socket, Deadline deadline) {
  Offer offer;
  std::vector<net::OwnedFd> fds;
  TF_RETURN_IF_ERROR(
      net::receive_with_fds(socket, std::as_writable_bytes(std::span(&offer, 1)), fds, deadline));
  TF_RETURN_IF_ERROR(check_offer(offer));
  if (fds.size() != 1)
    return Status{Code::kProtocol, "shm: the worker's offer carries " + std::to_string(fds.size()) +
                                       " descriptors instead of one"};
  return Segment::open(fds[0]);
}

}  // namespace tf::shm
