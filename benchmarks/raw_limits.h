// SPDX-License-Identifier: Apache-2.0
// The physical limits of one host, measured where our own figures are measured: what two processes can do
// through one cache line, and what one core can copy. Each call takes about `budget_s` seconds.
#pragma once

#include <cstdint>

namespace tf::bench {

// Median round trip of one cache line between two spinning processes, in nanoseconds, each on a processor of
// its own where there are two.
double raw_round_trip_ns(double budget_s);
// The same with 64 bytes each way, each way with a line of its own: what a line costs that the reader looks
// at before the writer comes to write it.
double raw_message_trip_ns(double budget_s);

// Cache lines that one process can hand to another through a ring of them, per second: each carries its own
// number, the reader gives room back a quarter of the ring at a time, and both ends spin.
double raw_lines_per_s(double budget_s);

// memcpy of `bytes` between two pieces of the heap by one core, median, in GB/s (1e9 bytes).
double raw_memcpy_gb_per_s(std::uint64_t bytes, double budget_s);

}  // namespace tf::bench
