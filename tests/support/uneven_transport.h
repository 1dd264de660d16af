// SPDX-License-Identifier: Apache-2.0
// A transport of which one lane is worse than the others: its bytes pass a relay in the worker's process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/net/transport.h"

namespace tf::test {

// What befalls the lane, in each direction.
struct Pace {
  std::size_t bytes_per_second = 0;    // 0: as many as come
  std::size_t stall_every_bytes = 0;   // 0: never
  std::chrono::milliseconds stall{0};  // each time
  std::size_t cut_after_bytes = 0;     // of one direction; 0: never. Bytes that are under way are lost
};

// `inner` must outlive it. `lane`: the lane's number.
std::unique_ptr<net::Transport> make_uneven_transport(const net::Transport& inner, std::uint32_t lane,
                                                      const Pace& pace);

}  // namespace tf::test
