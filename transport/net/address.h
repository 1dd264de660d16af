// SPDX-License-Identifier: Apache-2.0
// Address: where a worker listens, as users write it.
//
//   unix:/run/hip.sock   a Unix stream socket in the file system
//   unix:@name           the same, in Linux's abstract namespace
//   host:port            TCP; host is a name, an IPv4 address or [IPv6]
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"

namespace tf::net {

inline constexpr std::uint16_t kDefaultPort = 18515;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

class Address {
 public:
  // kInvalidArgument with the accepted forms when `text` is none of them. "host" alone gets kDefaultPort.
  static Result<Address> parse(std::string_view text);
  static Address unix_socket(std::string_view path);  // path or @name
  static Address tcp(std::string host, std::uint16_t port);

  bool is_unix() const { return unix_; }
  const std::string& host() const { return host_; }  // REQUIRES: !is_unix()
  const std::string& path() const { return host_; }  // REQUIRES: is_unix()
  std::uint16_t port() const { return port_; }
  // Round-trips with parse().
  std::string to_string() const;
  // The socket addresses to try, in order; TCP names are looked up (may block on DNS).
  Result<std::vector<SocketAddress>> resolve() const;
  // True for Unix sockets and for loopback TCP addresses ("localhost", 127.0.0.0/8, ::1).
  bool is_local() const;

 private:
  bool unix_ = false;
  std::string host_;
  std::uint16_t port_ = 0;
};

}  // namespace tf::net
