// SPDX-License-Identifier: Apache-2.0
// Incoming: what the inner endpoint has received and this end must not see yet.
//
// Messages are copied, up to kQueueBytesMax plus one poll(). Payload lands at its target at once; only its
// completion is delayed. No locks here: the owner's mutex is held in every call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "transport/endpoint.h"
#include "transport/shaper/outgoing.h"
#include "transport/shaper/shape.h"

namespace tf::shaper {

class Incoming {
 public:
  struct Message {
    FrameHeader header;
    std::vector<std::byte> payload;
    Time there;
  };

  Incoming(const Shape& shape, Endpoint& inside)
      : inside_(inside), messages_link_(shape), bulk_link_(shape) {}

  bool has_room() const { return message_bytes_ < kQueueBytesMax; }
  void arrive(const FrameHeader& header, std::span<const std::byte> payload, Time now);
  bool has_message(Time now) const { return !messages_.empty() && messages_.front().there <= now; }
  // REQUIRES: has_message(now)
  Message take();

  // An empty `target` throws the bytes away.
  Status receive(std::uint64_t tag, std::span<std::byte> target, std::uint64_t bytes,
                 BulkCompletion& completion);
  // The inner endpoint has moved payload: perhaps the first bytes of a receive.
  void note_flow(Time now) {
    if (!flow_began_) flow_began_ = now;
  }
  // Finds payload that has arrived, and completes the receives that are due. True: something has moved.
  bool sweep(Time now);
  std::optional<Time> next_message() const;
  std::optional<Time> next_bulk() const;

  // The inner endpoint has lost the peer. This end learns of it after everything that came before.
  void lose(const Status& status, Time now);
  // The loss, if it is due now: all messages are taken and all payload that arrived is completed.
  Status loss(Time now) const;
  bool is_lost() const { return !loss_.is_ok(); }
  std::optional<Time> next_loss() const;

  // The inner endpoint has failed. Receives whose memory it still uses complete at a later sweep().
  void fail(const Status& status);

 private:
  struct Receive {
    std::uint64_t bytes = 0;
    BulkCompletion* completion = nullptr;
    BulkCompletion arrived;  // completed by the inner endpoint
  };
  struct Landing {
    BulkCompletion* completion = nullptr;
    Status status;
    Time there;
  };

  bool land(Time now);

  Endpoint& inside_;
  Link messages_link_;
  Link bulk_link_;
  Status failure_;
  Status loss_;
  Time loss_there_{};
  std::deque<Message> messages_;
  std::size_t message_bytes_ = 0;
  std::list<Receive> receives_;  // with the inner endpoint
  std::deque<Landing> landings_;
  std::optional<Time> flow_began_;  // when payload first moved since the last receive ended
};

}  // namespace tf::shaper
