// SPDX-License-Identifier: Apache-2.0
#include "tcp/engine.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "tcp/poll_engine.h"
#include "tcp/probe.h"
#include "tcp/uring_engine.h"

namespace tf::tcp {
namespace {

// A Unix socket, or a TCP connection whose two ends have the same address.
bool stays_on_host(int socket) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_length = sizeof own;
  socklen_t peer_length = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_length) != 0) return true;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_length) != 0) return true;
  if (own.ss_family == AF_INET)
    return reinterpret_cast<sockaddr_in*>(&own)->sin_addr.s_addr ==
           reinterpret_cast<sockaddr_in*>(&peer)->sin_addr.s_addr;
  if (own.ss_family != AF_INET6) return true;
  return std::memcmp(&reinterpret_cast<sockaddr_in6*>(&own)->sin6_addr,
                     &reinterpret_cast<sockaddr_in6*>(&peer)->sin6_addr, sizeof(in6_addr)) == 0;
}

UringFeatures both(const UringFeatures& wanted, const UringFeatures& possible) {
  return {.multishot_receive = wanted.multishot_receive && possible.multishot_receive,
          .zero_copy_send = wanted.zero_copy_send && possible.zero_copy_send,
          .registered_files = wanted.registered_files && possible.registered_files};
}

}  // namespace

Result<LaneIo> make_lane_io(int socket, Lane lane, const Options& options) {
  if (options.engine == EngineKind::kPoll) return make_poll_io(socket);
  if (options.engine == EngineKind::kAuto &&
      (lane == Lane::kMessage || stays_on_host(socket) || !probe().available.is_ok()))
    return make_poll_io(socket);
  TF_RETURN_IF_ERROR(probe().available);
  Result<LaneIo> io = make_uring_io(socket, lane, both(options.features, probe().features));
  if (!io && options.engine == EngineKind::kAuto) return make_poll_io(socket);  // locked memory ran out, say
  return io;
}

}  // namespace tf::tcp
