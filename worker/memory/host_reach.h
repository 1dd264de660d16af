// SPDX-License-Identifier: Apache-2.0
// HostReach: the device memory that this process can read and write directly. Belongs to the executor thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hipcore/wire/device_snapshot.h"
#include "worker/base/address_map.h"

namespace tf::worker {

class HostReach {
 public:
  // Both outlive it.
  HostReach(const protocol::WorkerSnapshot& snapshot, const AddressMap& addresses)
      : snapshot_(snapshot), addresses_(addresses) {}

  // Whether it reaches memory that the worker allocates on this device.
  bool reaches_device(int device) const {
    // is_large_bar alone means a card behind a bus: reading its memory from here is slower than a copy by the
    // device.
    const protocol::DeviceProperties& properties =
        snapshot_.devices[static_cast<std::size_t>(device)].properties;
    return properties.is_large_bar != 0 && properties.integrated != 0;
  }
  // Whether it reaches these bytes of the session's memory. False for what the client has mapped itself: that
  // may have no access rights.
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    const AddressMap::Range* range = addresses_.find(address, bytes);
    return range != nullptr && range->edge == AddressMap::Edge::kEnds && reaches_device(range->device);
  }

 private:
  const protocol::WorkerSnapshot& snapshot_;
  const AddressMap& addresses_;
};

}  // namespace tf::worker
