// SPDX-License-Identifier: Apache-2.0
// Offers: memory that sessions share with others of the same worker, under names that cannot be guessed. The
// supervisor keeps it as descriptors and never looks inside. An offer ends with the session that made it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>

#include "transport/net/attach.h"
#include "worker/base/channel.h"
#include "worker/supervisor/spares.h"

namespace tf::worker {

inline constexpr std::size_t kOffersMax = 512;  // each holds one of the supervisor's descriptors

class Offers {
 public:
  // The answer to kOffer, kWithdraw or kWant from session process `pid`: a kAnswer, which is empty for
  // kWithdraw. The answer to kWant lends the descriptor; sent() takes it back.
  void handle(pid_t pid, ChannelMessage& message, ChannelMessage& answer);
  void sent(const net::Token& name, ChannelMessage& answer);
  // All of that for a message of session process `pid`, which shows the devices `shown` to its client. The
  // answer goes to its channel, if there is room: a process that does not read its answers does not get them.
  void serve(int channel, pid_t pid, const DeviceSet& shown, ChannelMessage& message);
  void forget(pid_t pid);
  std::size_t size() const { return offers_.size(); }

 private:
  struct Offer {
    pid_t owner = 0;
    SharedPiece piece;
    net::OwnedFd memory;
  };
  bool keep(pid_t pid, ChannelMessage& message);

  std::map<net::Token, Offer> offers_;
};

}  // namespace tf::worker
