// SPDX-License-Identifier: Apache-2.0
// The file in which a host's manager says how much memory workers may give of each device: who writes it (the
// TensorFusion provider) and who obeys it (hip-worker) agree here. Lines "UUID memory=BYTES"; '#' begins a
// comment. UUIDs are those that ROCR_VISIBLE_DEVICES takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/status.h"

namespace tf::hipcore {

inline constexpr std::size_t kDeviceLimitsMax = 64;          // lines
inline constexpr std::size_t kDeviceLimitsBytesMax = 16384;  // of the file

struct DeviceLimit {
  std::uint64_t device = 0;  // device_number() of its UUID
  std::uint64_t memory_bytes = 0;
};

// What one worker is told of all devices. Those whose number is 0 say nothing.
using DeviceLimits = std::array<DeviceLimit, kDeviceLimitsMax>;

// A number for a UUID, whatever the size of its letters. Not 0.
std::uint64_t device_number(std::string_view uuid);

// The failure names the line.
Result<std::vector<DeviceLimit>> parse_device_limits(std::string_view text);
// A file that is not there says nothing. It has to be a plain file of this user or of root that nobody else
// may write: kPermission.
Result<std::vector<DeviceLimit>> read_device_limits(const std::string& path);

// Sets the limit of one device, and keeps the other lines. Readers see the old file or the new one. For one
// process at a time.
Status write_device_limit(const std::string& path, std::string_view uuid, std::uint64_t memory_bytes);

}  // namespace tf::hipcore
