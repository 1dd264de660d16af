// SPDX-License-Identifier: Apache-2.0
// Judges who connects, and refuses.
#include "worker/supervisor/door.h"

#include <algorithm>
#include <vector>

#include "hipcore/wire/hello.h"

namespace tf::worker {

bool Door::admits(const net::PeerCredentials& peer, std::span<const gid_t> groups) const {
  if (peer.uid == own_ || std::ranges::count(guests_.users, peer.uid) != 0) return true;
  return std::ranges::any_of(guests_.groups, [&](gid_t allowed) {
    return peer.gid == allowed || std::ranges::count(groups, allowed) != 0;
  });
}

bool Door::admits(int socket) {
  const Result<net::PeerCredentials> asked = net::peer_credentials(socket);
  if (!asked) {
    const std::string why = "it cannot be told whose process it is: " + asked.status().message();
    refuse(socket, why, why);
    return false;
  }
  const net::PeerCredentials& peer = asked.value();
  if (admits(peer, {})) return true;
  // An older kernel does not tell them: then only the primary group counts.
  const Result<std::vector<gid_t>> groups =
      guests_.groups.empty() ? std::vector<gid_t>() : net::peer_groups(socket);
  if (groups && admits(peer, groups.value())) return true;
  // Numbers only: to look up names may take long, and every other client would wait.
  refuse(
      socket,
      fmt::format("user {} may not use this worker, which user {} has started; its options --allow-uid {} or "
                  "--allow-gid {} would let this program in (hip-worker --help)",
                  peer.uid, own_, peer.uid, peer.gid),
      fmt::format("user {}, group {}, process {}; --allow-uid {} or --allow-gid {} would let it in", peer.uid,
                  peer.gid, peer.pid, peer.uid, peer.gid));
  return false;
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
