// SPDX-License-Identifier: Apache-2.0
// Partitions of devices. One is a promise about what other partitions of the device get, and the variables by
// which a worker keeps to its part. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "provider/devices.h"
#include "transport/base/status.h"

namespace tf::provider {

inline constexpr unsigned kSlices = 8;  // of a device; so many partitions it has at most

// "2g.48gb"
struct Template {
  unsigned slices = 0;
  std::uint64_t memory_bytes = 0;
};
std::optional<Template> parse_template(std::string_view id);

struct Partition {
  std::string uuid;
  std::vector<std::string> variables;  // "NAME=VALUE", for the worker's environment
};

class Partitions {
 public:
  // kInvalidArgument: no such template. kUnsupported: nothing names the device to a runtime.
  // kResourceExhausted: other partitions, or the device's size, leave too little.
  Result<Partition> assign(std::string_view template_id, const Device& device);
  // kUnavailable: there is no such partition on the device.
  Status remove(std::string_view id, const Device& device);
  // Of the device, held by its partitions.
  std::uint64_t memory_of(const Device& device) const;

 private:
  struct Held {
    std::string uuid;
    std::string template_id;
    std::string device;
    unsigned first = 0;  // slice
    Template size;
  };
  std::optional<unsigned> find_slices(const Device& device, unsigned count) const;

  std::vector<Held> held_;  // in the order in which they were assigned
  std::uint64_t next_ = 1;
};

}  // namespace tf::provider
