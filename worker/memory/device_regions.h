// SPDX-License-Identifier: Apache-2.0
// DeviceRegions: device memory of the session that the transport's own device reads and writes (rdma with a
// GPU whose driver exports dma-bufs), so that payload needs no staging.
//
// The first memory of each device decides whether this works, which is logged once per device, as is the
// first refusal. After a refusal no more memory of that device is registered, and its copies go through
// staging. Memory that the transport has belongs to the device until remove(); nothing here touches it.
// Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "transport/base/status.h"
#include "transport/endpoint.h"
#include "worker/base/current_device.h"
#include "worker/base/optional_functions.h"
#include "worker/base/own_calls.h"
#include "worker/memory/host_reach.h"

namespace tf::worker {

class DeviceRegions {
 public:
  // All outlive it.
  DeviceRegions(Endpoint& endpoint, OwnCalls& own_calls, CurrentDevice& device, const HostReach& host_reach,
                const OptionalFunctions& optional)
      : endpoint_(endpoint),
        own_calls_(own_calls),
        device_(device),
        host_reach_(host_reach),
        range_handle_(optional.range_handle),
        flush_writes_(optional.flush_writes) {}
  DeviceRegions(const DeviceRegions&) = delete;
  DeviceRegions& operator=(const DeviceRegions&) = delete;
  ~DeviceRegions();

  // Registers the session's own memory, allocated or mapped as a whole, with the transport. No effect if the
  // host can address it, the transport moves data by the host only, or it has refused.
  void add(std::uint64_t address, std::uint64_t bytes, int device);
  // Call it before memory goes away: removes it from the transport. For any memory, even if add() had no
  // effect. REQUIRES: no payload moves there (DirectCopies::let_go() ensures it).
  void remove(std::uint64_t address, std::uint64_t bytes);

  // Adds to `to_flush` the devices of [address, address + bytes) on which the transport's writes may be
  // invisible to some until flush().
  void note_writes(std::uint64_t address, std::uint64_t bytes, std::vector<int>& to_flush) const;
  // REQUIRES: the payload has arrived. False: it may not be visible.
  bool flush(int device);

 private:
  struct Region {
    std::uint64_t bytes = 0;
    int device = 0;
  };
  struct Ability {
    bool works = false;    // it has worked once
    bool refused = false;  // for good
    bool always_seen = true;
  };

  bool is_known(std::uint64_t address) const { return regions_.contains(address); }
  Status tell(std::uint64_t address, std::uint64_t bytes, int device, Ability& ability);
  Status find_ability(int device, Ability& ability) const;
  void say(int device, const Ability& before, const Status& told) const;

  Endpoint& endpoint_;
  OwnCalls& own_calls_;
  CurrentDevice& device_;
  const HostReach& host_reach_;
  const decltype(OptionalFunctions::range_handle) range_handle_;
  const decltype(OptionalFunctions::flush_writes) flush_writes_;
  std::vector<Ability> abilities_;           // by device
  std::map<std::uint64_t, Region> regions_;  // registered memory, by address; the transport limits it
};

}  // namespace tf::worker
