// SPDX-License-Identifier: Apache-2.0
// full_fence(): orders every earlier store before every later load (what Dekker-style sleeping needs).
// prefetch_for_write(): brings a line into this core's cache, out of every other one.
#pragma once

#include <atomic>

namespace tf {

#if defined(__x86_64__)
// Cheaper than mfence, which std::atomic_thread_fence(seq_cst) emits; and the thread sanitizer, which does
// not know fences, does not warn. No data race hides behind it: data is published by release stores.
inline void full_fence() { asm volatile("lock orl $0, (%%rsp)" ::: "memory", "cc"); }
// An instruction of its own: the compilers emit it only where told that every processor has it, and those
// that lack it take it for a no-op.
inline void prefetch_for_write(const void* line) {
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
}
#else
inline void full_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void prefetch_for_write(const void* line) { __builtin_prefetch(line, 1); }
#endif

}  // namespace tf
