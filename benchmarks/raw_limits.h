// SPDX-License-Identifier: Apache-2.0
// The physical limits of a host, measured in the same place as our own figures: what two processes can
// exchange through a cache line, and what one core can copy. Each call takes about `budget_s` seconds.
#pragma once

#include <cstdint>

namespace tf::bench {

// Median round trip of one cache line between two spinning processes, in nanoseconds; on separate processors
// if there are two.
double raw_round_trip_ns(double budget_s);
// The same with 64 bytes each way and a separate line per direction: the cost of a line that the reader polls
// before the writer writes it.
double raw_message_trip_ns(double budget_s);

// Cache lines per second that one process can pass to another through a ring: each carries its own number,
// the reader returns room a quarter of the ring at a time, and both ends spin.
double raw_lines_per_s(double budget_s);

// memcpy of `bytes` between two pieces of the heap by one core, median, in GB/s (1e9 bytes).
double raw_memcpy_gb_per_s(std::uint64_t bytes, double budget_s);

}  // namespace tf::bench
