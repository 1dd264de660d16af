// SPDX-License-Identifier: Apache-2.0
// Chooses who gives way.
#include "worker/supervisor/seats.h"

#include <algorithm>
#include <unordered_map>

namespace tf::worker {
namespace {

constexpr std::size_t kDescriptorsOfOthers = 32;  // listeners, files, and the first sessions
constexpr std::size_t kSeatsPerDoorMin = 4;

}  // namespace

std::size_t seats_per_door(std::size_t descriptors, std::size_t sessions_max) {
  const std::size_t left = descriptors - std::min(descriptors, kDescriptorsOfOthers);
  return std::clamp(left / 4, kSeatsPerDoorMin,
                    std::max(kSeatsPerDoor, sessions_max));  // two doors take a half
}

std::size_t gives_way(std::span<const Seat> seats, const std::function<bool(std::size_t)>& is_silent) {
  const bool strangers = std::ranges::any_of(seats, &Seat::is_stranger);
  std::unordered_map<std::string_view, std::size_t> held;
  std::size_t most = 0;
  for (const Seat& seat : seats)
    if (seat.is_stranger == strangers) most = std::max(most, ++held[seat.peer]);
  std::size_t last = seats.size() - 1;
  for (std::size_t index = 0; index < seats.size(); ++index) {
    const Seat& seat = seats[index];
    if (seat.is_stranger != strangers || held[seat.peer] != most) continue;
    if (!seat.waits && is_silent(index)) return index;
    last = index;
  }
  return last;
}

}  // namespace tf::worker
