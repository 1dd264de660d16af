// SPDX-License-Identifier: Apache-2.0
// Spares: for which devices session processes are started, and when the next one may be. A process shows its
// client the devices that it was started with; tenants may be granted others. Where processes fail, the next
// start is later and later, for these devices only. Belongs to the supervisor.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "transport/base/deadline.h"

namespace tf::worker {

inline constexpr std::chrono::milliseconds kRespawnDelayMin{200};
inline constexpr std::chrono::milliseconds kRespawnDelayMax{30000};
inline constexpr std::size_t kDeviceSetsKept = 8;  // for which there is always a spare

// The worker's ordinals, in the tenant's order; empty: all.
using DeviceSet = std::vector<int>;

class Spares {
 public:
  // The sets for which spares are kept: what holds for all, then those of `granted` keys.
  void keep(const DeviceSet& common, std::span<const DeviceSet> granted);
  const std::vector<DeviceSet>& kept() const { return kept_; }
  bool keeps(const DeviceSet& devices) const { return std::ranges::find(kept_, devices) != kept_.end(); }

  bool may_start(const DeviceSet& devices) const { return at(devices).due.passed(); }
  // The last process found no runtime that shows these devices.
  bool unusable(const DeviceSet& devices) const { return at(devices).unusable; }
  void failed(const DeviceSet& devices, bool unusable);
  void ready(const DeviceSet& devices) { states_.erase(devices); }
  // When the next may be started that may not yet.
  Deadline next() const;

 private:
  struct State {
    Deadline due = Deadline::now();
    std::chrono::milliseconds delay = kRespawnDelayMin;
    bool unusable = false;
  };
  State at(const DeviceSet& devices) const;

  std::vector<DeviceSet> kept_{DeviceSet()};
  std::map<DeviceSet, State> states_;  // of those that failed
};

}  // namespace tf::worker
