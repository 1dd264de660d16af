// SPDX-License-Identifier: Apache-2.0
// Reads TCP_INFO (tcp(7); the fields are described in linux/tcp.h and in RFC 4898).
#include "transport/net/lane_traffic.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstddef>

#include "transport/net/socket.h"

namespace tf::net {
namespace {

constexpr socklen_t kInfoBytesMin =
    offsetof(tcp_info, tcpi_bytes_retrans) + sizeof(tcp_info::tcpi_bytes_retrans);

}  // namespace

std::optional<LaneTraffic> traffic_of(int socket, std::string_view name) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (!is_tcp(socket) || ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
      length < kInfoBytesMin)
    return std::nullopt;
  int unread = 0;
  if (::ioctl(socket, FIONREAD, &unread) != 0) return std::nullopt;
  LaneTraffic traffic;
  traffic.name = name;
  // What was sent again is counted twice in the first; what has not left is in the last.
  traffic.sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
  traffic.received = info.tcpi_bytes_received;
  traffic.unread = unread > 0;
  return traffic;
}

}  // namespace tf::net
