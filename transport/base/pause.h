// SPDX-License-Identifier: Apache-2.0
// What spin loops share. spin_pause() tells the processor that this is one.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tf {

#if defined(__x86_64__)
inline void spin_pause() { _mm_pause(); }
#else
inline void spin_pause() {}
#endif

// Iterations of a spin loop between two reads of the clock. One read costs about as much as ten iterations.
inline constexpr unsigned kLooksPerClock = 32;

}  // namespace tf
