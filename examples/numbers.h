// SPDX-License-Identifier: Apache-2.0
// Numbers that are the same everywhere, and a checksum of their bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

// Between -scale and scale.
inline std::vector<float> numbers(int count, std::uint32_t seed, float scale) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = scale * (static_cast<float>(seed >> 8) / 8388608.0f - 1.0f);
  }
  return values;
}

// FNV-1a over words; `sum` is that of numbers before these.
inline std::uint64_t checksum(const std::vector<float>& values, std::uint64_t sum = 1469598103934665603u) {
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    sum = (sum ^ bits) * 1099511628211u;
  }
  return sum;
}
