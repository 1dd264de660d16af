// SPDX-License-Identifier: Apache-2.0
// MemoryBroker: a session's access to memory that other sessions of its worker offer, which the supervisor
// keeps, and to the list of its tenant's sessions. The executor makes the requests, one at a time. The thread
// that reads the channel calls deliver().
#pragma once

#include <cstdint>
#include <optional>

#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/net/attach.h"
#include "worker/base/channel.h"

namespace tf::worker {

class MemoryBroker {
 public:
  explicit MemoryBroker(int channel) : channel_(channel) {}

  // All of these send the request and return; answered() says when the answer is here.
  Status offer(const net::Token& name, const SharedPiece& piece, net::OwnedFd memory);
  Status want(const net::Token& name);
  Status withdraw(const net::Token& name);
  Status find_session(std::uint32_t index);  // the answer is in ChannelMessage::row
  bool answered();
  // REQUIRES: answered()
  ChannelMessage take();

  // A kAnswer from the supervisor. An answer that nobody waits for any more is dropped.
  void deliver(ChannelMessage message);

 private:
  Status ask(ChannelMessage message);

  const int channel_;
  Mutex mutex_;
  std::uint64_t number_ TF_GUARDED_BY(mutex_) = 0;  // of the current request
  std::optional<ChannelMessage> answer_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::worker
