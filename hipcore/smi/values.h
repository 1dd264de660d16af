// SPDX-License-Identifier: Apache-2.0
// What the messages of smi/api mean to both edges: numbers that are unknown, texts in words, kinds of links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "hipcore/wire/gen/smi_messages.h"

namespace tf::smi {

using Facts = protocol::SmiDescribeReply;
using Sample = protocol::SmiSampleReply;
using Session = protocol::SmiFindSessionReply;
using Link = protocol::SmiFindLinkReply;

inline constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
constexpr bool is_known(std::uint64_t number) { return number != kUnknown; }

// Temperatures may be negative.
constexpr std::int64_t as_signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }

enum class LinkKind : std::uint64_t {
  kUndefined = 0,
  kSame = 1,
  kPcie = 2,
  kXgmi = 3,
  kNvlink = 4,
  kMemory = 5
};

// The vendor's numbers (rsmi_dev_perf_level_t): 0 is "auto".
enum class PerformanceLevel : std::uint64_t { kAuto = 0, kManual = 3 };

// Cut where it is too long; always terminated.
inline void set_text(std::span<std::uint64_t> words, std::string_view text) {
  std::memset(words.data(), 0, words.size_bytes());
  std::memcpy(words.data(), text.data(), std::min(text.size(), words.size_bytes() - 1));
}

// Up to its first zero; a peer may send none.
inline std::string text_of(std::span<const std::uint64_t> words) {
  const auto* const bytes = reinterpret_cast<const char*>(words.data());
  return {bytes, ::strnlen(bytes, words.size_bytes())};
}

// All numbers unknown, all texts empty.
inline Facts unknown_facts() {
  Facts facts;
  std::memset(static_cast<void*>(&facts), 0xff, offsetof(Facts, name));
  return facts;
}
inline Sample unknown_sample() {
  Sample sample;
  std::memset(static_cast<void*>(&sample), 0xff, sizeof sample);
  return sample;
}

}  // namespace tf::smi
