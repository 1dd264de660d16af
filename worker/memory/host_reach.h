// SPDX-License-Identifier: Apache-2.0
// HostReach: which device memory this process reads and writes like its own. Belongs to the executor thread.
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

  // What the worker allocates on this device.
  bool reaches_device(int device) const {
    // is_large_bar alone, a card behind a bus: reading its memory from here is slower than asking it to copy.
    const protocol::DeviceProperties& properties =
        snapshot_.devices[static_cast<std::size_t>(device)].properties;
    return properties.is_large_bar != 0 && properties.integrated != 0;
  }
  // These bytes of the session's memory. Not what the client has mapped itself: that may be without rights.
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    const AddressMap::Range* range = addresses_.find(address, bytes);
    return range != nullptr && range->edge == AddressMap::Edge::kEnds && reaches_device(range->device);
  }

 private:
  const protocol::WorkerSnapshot& snapshot_;
  const AddressMap& addresses_;
};

}  // namespace tf::worker
