// SPDX-License-Identifier: Apache-2.0
// Plain TCP sockets on loopback between two processes: the limits of the tcp transport.
#pragma once

#include <cstdint>

namespace tf::bench {

// Median round trip of 64 bytes, both ends spinning on non-blocking receives, in nanoseconds.
double raw_tcp_round_trip_ns(double budget_s);

// A stream of `bytes` from one buffer, received into one buffer, acknowledged by one byte at the end; median
// of the best of several piece sizes, in GB/s. Congestion control is cubic, the fastest on loopback.
// `connections`: each carries its share, and has a thread at both ends; the time is that of the last one.
double raw_tcp_stream_gb_per_s(std::uint64_t bytes, double budget_s, unsigned connections = 1);

}  // namespace tf::bench
