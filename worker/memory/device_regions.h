// SPDX-License-Identifier: Apache-2.0
// DeviceRegions: the session's device memory that the transport's own device reads and writes (rdma and a GPU
// whose driver exports dma-bufs), so that payload needs no staging.
//
// Whether that works is tried out with the first memory there is, and said once for each device, as is the
// first refusal: after it nothing more of that device is tried, and its copies go through staging. Memory
// that the transport has stays the device's until remove(); nothing here touches it. Belongs to the executor
// thread.
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

  // Tells the transport of the session's own memory, allocated or mapped as a whole. Without effect where the
  // host addresses it, the transport moves by the host alone, or it has been refused.
  void add(std::uint64_t address, std::uint64_t bytes, int device);
  // Before memory goes: takes it from the transport. Of any memory, also where add() was without effect.
  // REQUIRES: no payload moves there (DirectCopies::let_go() sees to it).
  void remove(std::uint64_t address, std::uint64_t bytes);

  // Adds the devices of [address, address + bytes) on which not everybody sees what the transport writes
  // before flush().
  void note_writes(std::uint64_t address, std::uint64_t bytes, std::vector<int>& to_flush) const;
  // REQUIRES: the payload has come. False: it may not be seen.
  bool flush(int device);

 private:
  struct Region {
    std::uint64_t bytes = 0;
    int device = 0;
  };
  struct Ability {
    bool works = false;    // it has, once
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
  std::map<std::uint64_t, Region> regions_;  // what the transport has, by address; bounded by what it takes
};

}  // namespace tf::worker
