// SPDX-License-Identifier: Apache-2.0
// spin_pause(): tells the processor that this is a spin loop. What such loops have in common.
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

// How often a loop looks before it reads the clock, which costs as much as some ten looks.
inline constexpr unsigned kLooksPerClock = 32;

}  // namespace tf
