// SPDX-License-Identifier: Apache-2.0
// Seats: connections that have no session process yet hold one, and each door has seats of its own. When all
// are taken, this says which connection gives way. Belongs to the supervisor.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace tf::worker {

inline constexpr std::size_t kSeatsPerDoor = 256;  // at least, where descriptors suffice

// The seats of one door: enough for all clients that can be served to come at once, but where this process
// may have few descriptors, sessions get the most of them.
std::size_t seats_per_door(std::size_t descriptors, std::size_t sessions_max);

struct Seat {
  std::string_view peer;     // who holds it
  bool is_stranger = false;  // has to prove a key, and has not
  bool waits = false;        // for a session process: it has said HELLO
};

// The one that gives way among all of one door, in the order in which they came. `is_silent`: whether nothing
// has arrived on the connection with this index that is still to be looked at.
//
// Strangers give way before those who have proven who they are. Among these it is the peer with the most
// seats: its oldest silent one, or, if all of them speak or wait, its last. So those who hold few seats keep
// them, whatever others do. REQUIRES: not empty.
std::size_t gives_way(std::span<const Seat> seats, const std::function<bool(std::size_t)>& is_silent);

}  // namespace tf::worker
