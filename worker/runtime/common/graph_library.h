// SPDX-License-Identifier: Apache-2.0
// The process's graph library: it implements graphs and captures, here as in the client. Thread-safe.
#pragma once

#include <atomic>

#include "hipcore/graph/library.h"

namespace tf::runtime {

namespace internal {
extern std::atomic<graph::Library*> graph_library;  // null until graphs() makes it
}

// Never destroyed: programs call HIP from destructors that run after main.
graph::Library& graphs();

// The library while some stream is being captured, else null; every call on a stream checks this. Acquire
// pairs with the release when the library is made.
inline graph::Library* capturing() {
  graph::Library* const library = internal::graph_library.load(std::memory_order_acquire);
  return library && library->capturing() ? library : nullptr;
}

// hipFree and hipFreeAsync of memory of a graph. Nothing: it is none.
inline graph::Library::Verdict free_graph_memory(void* pointer) {
  graph::Library* const library = internal::graph_library.load(std::memory_order_acquire);
  return library ? library->free_memory(pointer) : std::nullopt;
}

}  // namespace tf::runtime
