// SPDX-License-Identifier: Apache-2.0
// The processor's time stamp counter: all that is specific to an architecture in the clock of traces.
//
// It is usable where it counts at one rate in every power state and on every processor. A processor says the
// first of itself; the kernel tests the second, and stops using a counter that fails.
#pragma once

#include <cstdint>

namespace tf::proxy::stats {

#if defined(__x86_64__)
// May be read a few instructions early or late: it does not wait for those before it. REQUIRES:
// has_steady_counter(); else it may raise SIGSEGV.
inline std::uint64_t read_counter() { return __builtin_ia32_rdtsc(); }
#else
inline std::uint64_t read_counter() { return 0; }
#endif

// Asks the processor and the kernel: some system calls. False on processors other than x86-64.
bool has_steady_counter();

}  // namespace tf::proxy::stats
