// SPDX-License-Identifier: Apache-2.0
// Wakes threads in poll(2) through eventfds.
#include "transport/net/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace tf::net {

Status Waker::open() {
  for (Seat& seat : seats_) {
    seat.event = net::OwnedFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!seat.event) return Status::from_errno("eventfd", errno);
  }
  return Status::ok();
}

int Waker::arm() {
  for (int index = 0; index < kSeats; ++index) {
    std::uint32_t expected = kFree;
    if (seats_[static_cast<std::size_t>(index)].state.compare_exchange_strong(expected, kAsleep,
                                                                              std::memory_order_seq_cst))
      return index;
  }
  return -1;
}

void Waker::disarm(int index) {
  if (index < 0) return;
  Seat& seat = seats_[static_cast<std::size_t>(index)];
  // Emptied in any state. A notifier between its exchange and its write causes one early wake-up of the next
  // sleeper, which clears the seat here. Left in place it would keep every later poll(2) from sleeping.
  seat.state.exchange(kWoken, std::memory_order_seq_cst);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(seat.event.get(), &count, sizeof count);
  seat.state.store(kFree, std::memory_order_seq_cst);
}

void Waker::notify() {
  for (Seat& seat : seats_) {
    std::uint32_t expected = kAsleep;
    if (seat.state.load(std::memory_order_seq_cst) != kAsleep ||
        !seat.state.compare_exchange_strong(expected, kWoken, std::memory_order_seq_cst))
      continue;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(seat.event.get(), &one, sizeof one);
  }
}

}  // namespace tf::net
