// SPDX-License-Identifier: Apache-2.0
// Waits for values in memory and writes of them, as the thread of a stream does them.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <type_traits>

#include "worker/runtime/cpu/kernel_api.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

inline constexpr std::chrono::microseconds kWaitValuePause(20);

template <typename Word>
bool satisfied(Word now, Word wanted, unsigned condition) {
  switch (condition) {
    case hipStreamWaitValueGte: return static_cast<std::make_signed_t<Word>>(now - wanted) >= 0;
    case hipStreamWaitValueEq: return now == wanted;
    case hipStreamWaitValueAnd: return (now & wanted) != 0;
    default: return static_cast<Word>(~(now | wanted)) != 0;
  }
}

// The program writes the value; as on a GPU it may take for ever. Returns early if the device fails.
template <typename Word>
void wait_for_value(const Device& device, Word* word, Word wanted, unsigned condition, Word mask) {
  rest();
  // Acquire pairs with whoever writes the value and what it stands for.
  const auto now = [word] { return std::atomic_ref<Word>(*word).load(std::memory_order_acquire); };
  while (!satisfied<Word>(now() & mask, wanted & mask, condition) && device.failure() == hipSuccess)
    std::this_thread::sleep_for(kWaitValuePause);
}

// Release pairs with wait_for_value() and with a program that polls.
template <typename Word>
void write_value(Word* word, Word value) {
  std::atomic_ref<Word>(*word).store(value, std::memory_order_release);
}

}  // namespace tf::cpu
