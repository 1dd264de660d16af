// SPDX-License-Identifier: Apache-2.0
// DeviceReads: memory that a device reads next (BulkPlane::expect_device_reads()). Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tf::tcp {

// Of one endpoint. It is a hint: further ones are ignored.
inline constexpr std::size_t kDeviceReadsMax = 16;

class DeviceReads {
 public:
  void add(std::span<std::byte> memory) {
    if (memories_.size() < kDeviceReadsMax) memories_.push_back(memory);
  }
  void remove(std::span<std::byte> memory) {
    std::erase_if(memories_, [memory](std::span<std::byte> each) {
      return each.data() == memory.data() && each.size() == memory.size();
    });
  }
  // Null is in none.
  bool holds(const std::byte* address) const {
    return std::ranges::any_of(memories_, [address](std::span<std::byte> each) {
      const std::less<const std::byte*> before;  // also of pointers into different objects
      return !before(address, each.data()) && before(address, each.data() + each.size());
    });
  }

 private:
  std::vector<std::span<std::byte>> memories_;
};

}  // namespace tf::tcp
