// SPDX-License-Identifier: Apache-2.0
// What the kernel says of the host's processor, and the clock that kernels count by. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace tf::cpu {

// The value of a line of /proc/cpuinfo, of its first processor; empty if there is none.
std::string processor_fact(const char* key);

// The rate of clock64() in kernels, which hipDeviceAttributeClockRate says: the processor's when it was first
// asked for.
int clock_khz();

// clock64(): steady time in ticks of clock_khz(), whatever the processor's clock does since.
std::uint64_t clock_ticks(std::uint64_t steady_ns);

}  // namespace tf::cpu
