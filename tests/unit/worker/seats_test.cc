// SPDX-License-Identifier: Apache-2.0
// Who gives way when all seats are taken.
#include "worker/supervisor/seats.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tf::worker {
namespace {

std::size_t chosen(const std::vector<Seat>& seats, const std::set<std::size_t>& speaking = {}) {
  return gives_way(seats, [&](std::size_t index) { return !speaking.contains(index); });
}

Seat silent(std::string_view peer) { return {.peer = peer}; }
Seat stranger(std::string_view peer) { return {.peer = peer, .is_stranger = true}; }
Seat waiting(std::string_view peer) { return {.peer = peer, .waits = true}; }

TEST(Seats, TheOldestOfThePeerWithTheMost) {
  EXPECT_EQ(chosen({silent("a"), silent("b"), silent("b"), silent("c")}), 1u);
  EXPECT_EQ(chosen({silent("a"), silent("b"), silent("c")}), 0u) << "all have as many";
  EXPECT_EQ(chosen({silent("a")}), 0u);
}

TEST(Seats, WhoSpeaksOrWaitsKeepsItsSeatWhileAnotherOfThePeerIsSilent) {
  EXPECT_EQ(chosen({silent("a"), silent("b"), silent("b")}, {1}), 2u);
  EXPECT_EQ(chosen({silent("a"), waiting("b"), silent("b")}), 2u);
  EXPECT_EQ(chosen({silent("a"), waiting("b"), waiting("b"), silent("b")}, {3}), 3u)
      << "the last came too late";
  EXPECT_EQ(chosen({silent("a"), waiting("b"), waiting("b"), silent("a"), waiting("b")}), 4u);
}

TEST(Seats, StrangersGiveWayFirst) {
  EXPECT_EQ(chosen({silent("tenant a"), silent("tenant a"), silent("tenant a"), stranger("b")}), 3u);
  EXPECT_EQ(chosen({silent("a"), stranger("b"), stranger("c"), stranger("c")}), 2u);
  EXPECT_EQ(chosen({waiting("a"), stranger("b")}, {1}), 1u);
}

TEST(Seats, SessionsGetMostOfTheDescriptors) {
  EXPECT_EQ(seats_per_door(16384, 64), kSeatsPerDoor);
  EXPECT_EQ(seats_per_door(16384, 1000), 1000u);
  EXPECT_EQ(seats_per_door(1024, 1000), 248u);
  EXPECT_EQ(seats_per_door(64, 64), 8u);
  EXPECT_EQ(seats_per_door(0, 64), 4u);
}

}  // namespace
}  // namespace tf::worker
