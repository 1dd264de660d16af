// SPDX-License-Identifier: Apache-2.0
// Wakes threads that sleep in poll(2). A sleeper arms a seat, looks once more at what it waits for, then
// polls the seat's descriptor; notify() costs nothing but a load per seat while nobody sleeps. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::net {

// Consumer and mover; a further sleeper gets no seat and must sleep in short slices.
inline constexpr int kSeats = 2;

class Waker {
 public:
  Status open();
  // -1: all seats are taken.
  int arm();
  void disarm(int seat);
  int fd(int seat) const { return seats_[static_cast<std::size_t>(seat)].event.get(); }
  void notify();

 private:
  enum State : std::uint32_t { kFree, kAsleep, kWoken };
  struct Seat {
    net::OwnedFd event;
    // seq_cst throughout: the sleeper stores kAsleep and then loads what it waits for, the notifier has
    // stored that before it loads the state; one of the two sees the other.
    std::atomic<std::uint32_t> state{kFree};
  };
  std::array<Seat, kSeats> seats_;
};

}  // namespace tf::net
