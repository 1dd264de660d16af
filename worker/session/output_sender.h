// SPDX-License-Identifier: Apache-2.0
// OutputSender: sends a session's KernelOutput on the control connection, never more than the client has room
// for (kOutputInFlightMax). Belongs to the thread that reads that connection.
#pragma once

#include <cstdint>

#include "transport/base/status.h"
#include "transport/net/stream.h"
#include "worker/base/kernel_output.h"

namespace tf::worker {

class OutputSender {
 public:
  // `control`: of the session; outlives it, as does `output`.
  OutputSender(KernelOutput& output, const net::Stream& control) : output_(output), control_(control) {}

  // Sends what there is, as far as there is room. Does not wait.
  Status send();
  // The client has written so many bytes since the beginning. kProtocol: more than it got.
  Status written(std::uint64_t bytes);
  // The descriptor that turns readable when there is something to send; negative: not before written().
  int waits_for() const { return has_room() ? output_.ready().get() : -1; }

 private:
  bool has_room() const { return sent_ - written_ < protocol::kOutputInFlightMax; }

  KernelOutput& output_;
  const net::Stream control_;
  std::uint64_t sent_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace tf::worker
