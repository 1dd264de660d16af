// SPDX-License-Identifier: Apache-2.0
// Limits: what one tenant may have of a worker, in the words of an operator: "devices=0,2 memory=8G
// streams=256". The same words stand on the command line (--limit) and on a tenant's line among the
// authorized keys. A plain value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/status.h"

namespace tf::worker {

// Each is for all sessions of a tenant together, but kIdle, which is for each of them.
enum class Limit : std::uint32_t {
  kMemory = 0,    // bytes of memory of each device
  kHost = 1,      // bytes of host memory that devices use: pinned and managed; if not set, as kMemory
  kStreams = 2,   // that exist at a time
  kCompiles = 3,  // programs that hiprtc compiles at a time
  kSessions = 4,  // at a time
  kStarts = 5,    // sessions that start within a minute
  kIdle = 6,      // seconds that a session may be without a call and without work
  kWeight = 7,    // of a session: the part of busy processors that it gets, see weight.h
};
inline constexpr std::size_t kLimits = 8;
inline constexpr std::uint64_t kWeightMax = 100;

// What a session process has to know, as numbers; 0: no limit.
using LimitValues = std::array<std::uint64_t, kLimits>;

class Limits {
 public:
  // Words with blanks between them, or one by one; none twice. The failure says what is possible.
  static Result<Limits> parse(std::string_view words);
  static Result<Limits> parse(std::span<const std::string> words);

  // 0: none is set.
  std::uint64_t of(Limit limit) const { return values_[static_cast<std::size_t>(limit)].value_or(0); }
  bool has(Limit limit) const { return values_[static_cast<std::size_t>(limit)].has_value(); }
  void set(Limit limit, std::uint64_t value) { values_[static_cast<std::size_t>(limit)] = value; }
  LimitValues values() const;
  // The worker's ordinals, in the order in which the tenant numbers them. Empty: all devices.
  const std::vector<int>& devices() const { return devices_; }

  // These, and where they say nothing, `defaults`.
  Limits over(const Limits& defaults) const;

 private:
  Status take(std::string_view word);
  Status take_devices(std::string_view list);

  std::array<std::optional<std::uint64_t>, kLimits> values_;
  std::vector<int> devices_;
};

// "memory=8G streams=256": those that are set and not 0; empty: none.
std::string limits_text(const LimitValues& values);
std::string_view name(Limit limit);

}  // namespace tf::worker
