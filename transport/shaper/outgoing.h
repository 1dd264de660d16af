// SPDX-License-Identifier: Apache-2.0
// Outgoing: what has left this end and has not arrived at the endpoint inside, which stands for the far one.
//
// Messages are copied, up to kQueueBytesMax. Payload stays where it is: its sender gets it back when it has
// arrived, as a transport without copies does. Nothing here locks: the owner's mutex is held in every call.
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

inline constexpr std::size_t kQueueBytesMax = 4 << 20;       // messages under way, each direction
inline constexpr std::size_t kChunkBytes = 256 << 10;        // payload put on the wire at a time
inline constexpr std::size_t kFlightsMax = 1024;             // pieces of payload under way
inline constexpr std::chrono::microseconds kRoomPause{200};  // until a full endpoint is tried again

class Outgoing {
 public:
  Outgoing(const Shape& shape, Endpoint& inside)
      : inside_(inside), messages_link_(shape), bulk_link_(shape) {}

  // Room for a message; if there is none, take_room() will tell.
  bool reserve(std::size_t bytes);
  void publish(std::vector<std::byte> message, Time now);
  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion);
  Status abort(std::uint64_t tag, std::uint32_t reason);

  // Hands over what has arrived by `now`, and completes sends. True: something has moved.
  Result<bool> carry(Time now);
  // When carry() will have something to do by itself. None: not before the endpoint inside moves.
  std::optional<Time> next(Time now) const;
  // There is room again since a reserve() was refused; told once.
  bool take_room();
  bool has_messages() const { return !messages_.empty(); }

  // The endpoint inside has failed: nothing more leaves. Sends whose memory it still uses complete at a later
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
    std::size_t left = 0;    // bytes that have
    bool departed = false;   // all of it, and in departed_
    std::size_t pieces = 0;  // under way or with the endpoint inside
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
  std::size_t wanted_bytes_ = 0;  // of a refused reserve(); 0: none
  Time inside_full_until_{};
  Sends waiting_;              // not wholly on the wire, oldest first
  Sends departed_;             // wholly on the wire
  std::list<Flight> flights_;  // on the wire
  std::list<Flight> landed_;   // with the endpoint inside
};

}  // namespace tf::shaper
