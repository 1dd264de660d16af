// SPDX-License-Identifier: Apache-2.0
// MemoryBroker: a session's way to the memory that other sessions of its worker offer, which the supervisor
// keeps. Requests belong to the executor, which has one under way at a time; deliver() to whoever reads the
// channel.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "transport/base/status.h"
#include "transport/net/attach.h"
#include "worker/base/channel.h"

namespace tf::worker {

class MemoryBroker {
 public:
  explicit MemoryBroker(int channel) : channel_(channel) {}

  // All ask and return; the answer is there when answered().
  Status offer(const net::Token& name, const SharedPiece& piece, net::OwnedFd memory);
  Status want(const net::Token& name);
  Status withdraw(const net::Token& name);
  bool answered();
  // REQUIRES: answered()
  ChannelMessage take();

  // A kAnswer from the supervisor. One that nobody waits for any more is dropped.
  void deliver(ChannelMessage message);

 private:
  Status ask(ChannelMessage message);

  const int channel_;
  std::mutex mutex_;
  std::uint64_t number_ = 0;  // of the request under way
  std::optional<ChannelMessage> answer_;
};

}  // namespace tf::worker
