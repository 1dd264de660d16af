// SPDX-License-Identifier: Apache-2.0
// Judges who connects, and refuses.
#include "worker/supervisor/door.h"

#include <algorithm>
#include <vector>

#include "hipcore/wire/hello.h"
#include "worker/supervisor/loopback_peer.h"

namespace tf::worker {

namespace {

std::string unknown(const Status& status) {
  return "it cannot be told whose process it is: " + status.message();
}

}  // namespace

bool Door::admits(uid_t user) const { return user == own_ || std::ranges::count(guests_.users, user) != 0; }

bool Door::admits(const net::PeerCredentials& peer, std::span<const gid_t> groups) const {
  if (admits(peer.uid)) return true;
  return std::ranges::any_of(guests_.groups, [&](gid_t allowed) {
    return peer.gid == allowed || std::ranges::count(groups, allowed) != 0;
  });
}

std::optional<uid_t> Door::admit(int socket, bool is_unix) {
  return is_unix ? admit_unix(socket) : admit_loopback(socket);
}

std::optional<uid_t> Door::admit_unix(int socket) {
  const Result<net::PeerCredentials> asked = net::peer_credentials(socket);
  if (!asked) {
    refuse(socket, unknown(asked.status()), unknown(asked.status()));
    return std::nullopt;
  }
  const net::PeerCredentials& peer = asked.value();
  if (admits(peer, {})) return peer.uid;
  // An older kernel does not tell them: then only the primary group counts.
  const Result<std::vector<gid_t>> groups =
      guests_.groups.empty() ? std::vector<gid_t>() : net::peer_groups(socket);
  if (groups && admits(peer, groups.value())) return peer.uid;
  // Numbers only: to look up names may take long, and every other client would wait.
  refuse(
      socket,
      fmt::format("user {} may not use this worker, which user {} has started; its options --allow-uid {} or "
                  "--allow-gid {} would let this program in (hip-worker --help)",
                  peer.uid, own_, peer.uid, peer.gid),
      fmt::format("user {}, group {}, process {}; --allow-uid {} or --allow-gid {} would let it in", peer.uid,
                  peer.gid, peer.pid, peer.uid, peer.gid));
  return std::nullopt;
}

std::optional<uid_t> Door::admit_loopback(int socket) {
  Result<uid_t> user = loopback_peer(socket);
  if (user && admits(*user)) return *user;
  if (user.code() == Code::kPeerLost) return std::nullopt;  // it has hung up: nobody is there to be told
  if (!user) {
    refuse(socket, unknown(user.status()), unknown(user.status()));
    return std::nullopt;
  }
  refuse(socket,
         fmt::format(
             "user {} may not use this worker, which user {} has started; its option --allow-uid {} would "
             "let this program in (hip-worker --help)",
             *user, own_, *user),
         fmt::format("user {}, over TCP; --allow-uid {} would let it in", *user, *user));
  return std::nullopt;
}

// The answer to a HELLO that may not have been sent yet, and that nobody reads. The socket is fresh, so there
// is room for it; a peer that has gone does not need it.
void Door::refuse(int socket, const std::string& why, const std::string& logged) {
  log_.line("a connection refused: {}", logged);
  protocol::HelloReply reply;
  reply.code = Code::kPermission;
  reply.message = why;
  static_cast<void>(protocol::send_hello_reply(socket, reply, Deadline::now()));
}

}  // namespace tf::worker
