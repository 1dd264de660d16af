// SPDX-License-Identifier: Apache-2.0
// Picks the engine for a lane: direct system calls or io_uring.
#include "tcp/engine.h"

#include "tcp/poll_engine.h"
#include "tcp/probe.h"
#include "tcp/uring_engine.h"
#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

UringFeatures both(const UringFeatures& wanted, const UringFeatures& possible) {
  return {.multishot_receive = wanted.multishot_receive && possible.multishot_receive,
          .zero_copy_send = wanted.zero_copy_send && possible.zero_copy_send,
          .registered_files = wanted.registered_files && possible.registered_files};
}

}  // namespace

Result<LaneIo> make_lane_io(int socket, Lane lane, const Options& options) {
  if (options.engine == EngineKind::kPoll) return make_poll_io(socket);
  if (options.engine == EngineKind::kAuto &&
      (lane == Lane::kMessage || net::stays_on_host(socket) || !probe().available.is_ok()))
    return make_poll_io(socket);
  TF_RETURN_IF_ERROR(probe().available);
  UringFeatures features = both(options.features, probe().features);
  if (options.records) features.zero_copy_send = false;
  Result<LaneIo> io = make_uring_io(socket, lane, features, lane == Lane::kBulk && !options.records);
  if (!io && options.engine == EngineKind::kAuto) return make_poll_io(socket);  // e.g. locked memory ran out
  return io;
}

}  // namespace tf::tcp
