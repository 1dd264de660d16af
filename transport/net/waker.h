// SPDX-License-Identifier: Apache-2.0
// Wakes threads that sleep in poll(2). A sleeper arms a seat, checks once more for what it waits for, then
// polls the seat's descriptor. While nobody sleeps, notify() costs one load per seat. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::net {

// One for the consumer, one for the mover. Any further sleeper gets no seat and must sleep in short slices.
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
    // seq_cst throughout. The sleeper stores kAsleep and then loads what it waits for; the notifier stores
    // that before it loads the state. So one of the two sees the other.
    std::atomic<std::uint32_t> state{kFree};
  };
  std::array<Seat, kSeats> seats_;
};

}  // namespace tf::net
