// SPDX-License-Identifier: Apache-2.0
// Stream sockets with deadlines: dial, listen, whole reads and writes, descriptor passing. All sockets made
// here are non-blocking, close-on-exec, and never raise SIGPIPE. transport/net/liveness.h says when their
// peers count as lost.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/attach.h"
#include "transport/net/fd.h"

namespace tf::net {

// Connects to the first socket address that answers. The Status names every address tried and why it failed.
// TCP sockets get TCP_NODELAY and keepalive.
Result<OwnedFd> dial(const Address& address, Deadline deadline);
// `count` connections to the same one, all under way at the same time.
Result<std::vector<OwnedFd>> dial_all(const Address& address, unsigned count, Deadline deadline);

// dial() and write_attach().
Result<OwnedFd> dial_lane(const Address& address, const Attach& attach, Deadline deadline);

// True for a Unix socket, and for a connected TCP socket whose two ends have the same address. False if that
// cannot be determined.
bool stays_on_host(int socket);

bool is_tcp(int socket);

// "ADDRESS:PORT" of the other end, for logs; "unix socket" where it has none.
std::string peer_text(int socket);

// Where a dialled socket has arrived: a name may have several addresses, and the lanes of a session go to the
// worker that its control connection has reached. `named`, where the other end has no address of its own.
Address address_reached(int socket, const Address& named);

// Whose connection it is, where each has a share: the other end's address without its port; of an IPv6
// address, of which anybody has many, the first 64 bits ("2001:db8:0:1::/64").
std::string peer_network(int socket);

// How a Unix socket stands in the file system. To connect takes the right to write. An abstract socket has no
// file, so these do not hold for it.
struct SocketFile {
  mode_t mode = 0600;
  std::optional<gid_t> group;  // none: that of the process, or of the folder if that is set-group-id
};

// A bound, listening socket. A stale Unix socket file that nobody listens on is replaced.
class Listener {
 public:
  // The file has its mode from its first moment, and its group before anybody can connect. For that moment
  // the umask of the whole process is another one.
  static Result<Listener> open(const Address& address, const SocketFile& file = {});
  // A stream socket that somebody else has bound and made listening (a service manager). Its file stays with
  // whoever made it. Clients see the credentials of who called listen(2), which this does not do again.
  // kInvalidArgument: it is no such socket.
  static Result<Listener> adopt(OwnedFd socket);
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) noexcept = default;
  ~Listener();  // removes the Unix socket file that open() made

  int fd() const { return fd_.get(); }
  // The bound address. If port 0 was asked for, it has the port that the kernel chose.
  const Address& address() const { return address_; }
  // kWouldBlock if no connection is waiting.
  Result<OwnedFd> accept();

 private:
  Listener() = default;

  OwnedFd fd_;
  Address address_;
  bool has_made_file_ = false;
};

Status write_all(int socket, std::span<const std::byte> bytes, Deadline deadline);
// kPeerLost when the peer closed before all bytes came.
Status read_all(int socket, std::span<std::byte> bytes, Deadline deadline);
// poll(2) for POLLIN/POLLOUT. kTimeout when the deadline passes.
Status wait_readable(int socket, Deadline deadline);
Status wait_writable(int socket, Deadline deadline);

// Unix sockets only. `bytes` must not be empty; at most kFdsPerMessageMax descriptors, which the
// receiver owns. Credentials are those of the peer at connect time (SO_PEERCRED).
inline constexpr std::size_t kFdsPerMessageMax = 16;
Status send_with_fds(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                     Deadline deadline);
// Reads exactly bytes.size() bytes and all descriptors that came with them.
Status receive_with_fds(int socket, std::span<std::byte> bytes, std::vector<OwnedFd>& fds, Deadline deadline);
// The same for sockets that keep packets apart: reads one. kProtocol: it has not bytes.size() bytes.
Status receive_packet_with_fds(int socket, std::span<std::byte> bytes, std::vector<OwnedFd>& fds,
                               Deadline deadline);
struct PeerCredentials {
  pid_t pid = 0;  // 0: a process that ours cannot see (another pid namespace)
  uid_t uid = 0;  // effective, as the gid
  gid_t gid = 0;
};
Result<PeerCredentials> peer_credentials(int socket);
// The supplementary groups (SO_PEERGROUPS, since Linux 4.13), of the same moment.
Result<std::vector<gid_t>> peer_groups(int socket);

}  // namespace tf::net
