// SPDX-License-Identifier: Apache-2.0
// full_fence(): orders every earlier store before every later load (what Dekker-style sleeping needs).
#pragma once

#include <atomic>

namespace tf {

#if defined(__x86_64__)
// Cheaper than mfence, which std::atomic_thread_fence(seq_cst) emits. It also keeps the thread sanitizer
// quiet, which does not support fences. That hides no data race: data is published by release stores.
inline void full_fence() { asm volatile("lock orl $0, (%%rsp)" ::: "memory", "cc"); }
#else
inline void full_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
#endif

}  // namespace tf
