// SPDX-License-Identifier: Apache-2.0
// Sets keepalive and TCP_USER_TIMEOUT on connections.
#include "transport/net/liveness.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "transport/net/socket.h"

namespace tf::net {
namespace {

// The timeout has this many intervals: the first probe leaves after one, the end comes with the last.
constexpr int kIntervals = 4;
constexpr int kProbesMin = 2;  // one may be lost on its way
constexpr std::int64_t kTimeoutMax_ms = 24LL * 3600 * 1000;

struct Keepalive {
  int interval_s = 1;
  int probes = kProbesMin;
  int whole_ms() const { return interval_s * (probes + 1) * 1000; }
};

Keepalive keepalive_within(std::chrono::milliseconds timeout) {
  const auto seconds = static_cast<int>(std::min<std::int64_t>(timeout.count(), kTimeoutMax_ms) / 1000);
  Keepalive result;
  result.interval_s = std::max(1, seconds / kIntervals);
  result.probes = std::max(kProbesMin, seconds / result.interval_s - 1);
  return result;
}

bool set(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

}  // namespace

Status watch_idle(int socket, std::chrono::milliseconds timeout) {
  if (!is_tcp(socket)) return Status::ok();
  if (timeout.count() <= 0) return {Code::kInvalidArgument, "the peer timeout must be positive"};
  const Keepalive keepalive = keepalive_within(timeout);
  const bool done = set(socket, IPPROTO_TCP, TCP_KEEPIDLE, keepalive.interval_s) &&
                    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, keepalive.interval_s) &&
                    set(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive.probes) &&
                    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  return done ? Status::ok() : Status::from_errno("setsockopt of keepalive", errno);
}

// If the user timeout is set the kernel does not count probes: it must not expire before the last of them.
Status watch_silence(int socket, std::chrono::milliseconds timeout) {
  TF_RETURN_IF_ERROR(watch_idle(socket, timeout));
  if (!is_tcp(socket)) return Status::ok();
  if (set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, keepalive_within(timeout).whole_ms())) return Status::ok();
  return Status::from_errno("setsockopt of TCP_USER_TIMEOUT", errno);
}

}  // namespace tf::net
