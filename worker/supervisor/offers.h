// SPDX-License-Identifier: Apache-2.0
// Offers: memory that sessions let others of the same worker have, by names that cannot be guessed. Kept by
// the supervisor as descriptors it never looks into; an offer ends with the session that made it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>

#include "transport/net/attach.h"
#include "worker/base/channel.h"

namespace tf::worker {

inline constexpr std::size_t kOffersMax = 512;  // each holds a descriptor of the supervisor

class Offers {
 public:
  // The answer to kOffer, kWithdraw or kWant of the session process `pid`: kind kAnswer, and nothing more for
  // kWithdraw. The answer to kWant lends the descriptor: sent() takes it back.
  void handle(pid_t pid, ChannelMessage& message, ChannelMessage& answer);
  void sent(const net::Token& name, ChannelMessage& answer);
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
