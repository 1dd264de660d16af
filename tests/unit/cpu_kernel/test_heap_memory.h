// SPDX-License-Identifier: Apache-2.0
// What a heap of kernels takes its memory from in tests: it counts. Any thread.
#pragma once

#include <atomic>
#include <cstddef>

#include "worker/runtime/cpu/kernel/device_heap.h"

namespace tf::cpu {

struct TestHeapMemory : HeapMemory {
  std::atomic<std::size_t> limit{64 << 20};
  std::atomic<std::size_t> total{64 << 20};
  std::atomic<std::size_t> taken{0};

  std::size_t heap_limit_bytes() const override { return limit; }
  bool take_memory(std::size_t bytes) override {
    if (taken + bytes > total) return false;
    taken += bytes;
    return true;
  }
  void give_memory(std::size_t bytes) override { taken -= bytes; }
};

}  // namespace tf::cpu
