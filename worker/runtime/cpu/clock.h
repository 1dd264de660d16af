// SPDX-License-Identifier: Apache-2.0
// Time in the CPU runtime: nanoseconds of the steady clock. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace tf::cpu {

inline std::uint64_t now_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count());
}

inline void cpu_relax() { __builtin_ia32_pause(); }

// A spinning thread yields after this long: the thread it waits for may be queued behind it on the same
// processor.
inline constexpr std::uint64_t kSpinAlone_ns = 2'000;

inline void spin_until(std::uint64_t deadline_ns) {
  while (now_ns() < deadline_ns) cpu_relax();
}

}  // namespace tf::cpu
