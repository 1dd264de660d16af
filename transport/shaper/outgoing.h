// SPDX-License-Identifier: Apache-2.0
// Outgoing: what has left this end and has not yet reached the inner endpoint, which stands for the far end.
//
// Messages are copied, up to kQueueBytesMax. Payload stays where it is: the sender gets its memory back when
// the payload has arrived, as on a transport without copies. No locks here: the owner's mutex is held in
// every call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "transport/endpoint.h"
#include "transport/shaper/shape.h"

namespace tf::shaper {

inline constexpr std::size_t kQueueBytesMax = 4 << 20;       // messages in flight, per direction
inline constexpr std::size_t kChunkBytes = 256 << 10;        // payload put on the wire at a time
inline constexpr std::size_t kFlightsMax = 1024;             // pieces of payload in flight
inline constexpr std::chrono::microseconds kRoomPause{200};  // before a full endpoint is tried again

class Outgoing {
 public:
  Outgoing(const Shape& shape, Endpoint& inside)
      : inside_(inside), messages_link_(shape), bulk_link_(shape) {}

  // Whether there is room for a message. If not, take_room() says when there is.
  bool reserve(std::size_t bytes);
  void publish(std::vector<std::byte> message, Time now);
  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion);
  Status abort(std::uint64_t tag, std::uint32_t reason);

  // Hands over what is due by `now`, and completes sends. True: something has moved.
  Result<bool> carry(Time now);
  // When carry() will next have work. None: not before the inner endpoint moves.
  std::optional<Time> next(Time now) const;
  // True once, when there is room again after a refused reserve().
  bool take_room();
  bool has_messages() const { return !messages_.empty(); }

  // The inner endpoint has failed: nothing more leaves. Sends whose memory it still uses complete at a later
  // carry().
  void fail(const Status& status);

 private:
  struct Message {
    std::vector<std::byte> bytes;
    Time there;
  };
  struct Send {
    std::uint64_t tag = 0;
    std::span<const std::byte> source;
    BulkCompletion* completion = nullptr;  // null: an abort
    std::uint32_t reason = 0;
    std::size_t left = 0;    // bytes that have left
    bool departed = false;   // all has left; it is in departed_
    std::size_t pieces = 0;  // in flight or with the inner endpoint
  };
  using Sends = std::list<Send>;
  struct Flight {
    Sends::iterator send;
    std::span<const std::byte> piece;
    Time there;
    BulkCompletion arrived;
  };

  Status deliver_messages(Time now, bool& moved);
  void depart(Time now);
  Status hand_over(Time now, bool& moved);
  bool complete();
  void end(Sends::iterator send, const Status& status);

  Endpoint& inside_;
  Link messages_link_;
  Link bulk_link_;
  Status failure_;
  std::deque<Message> messages_;
  std::size_t message_bytes_ = 0;
  std::size_t wanted_bytes_ = 0;  // by a refused reserve(); 0: none
  Time inside_full_until_{};
  Sends waiting_;              // not entirely on the wire, oldest first
  Sends departed_;             // entirely on the wire
  std::list<Flight> flights_;  // on the wire
  std::list<Flight> landed_;   // with the inner endpoint
};

}  // namespace tf::shaper
