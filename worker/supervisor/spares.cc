// SPDX-License-Identifier: Apache-2.0
// Remembers where session processes failed.
#include "worker/supervisor/spares.h"

#include <algorithm>

namespace tf::worker {

void Spares::keep(const DeviceSet& common, std::span<const DeviceSet> granted) {
  kept_.assign(1, common);
  for (const DeviceSet& devices : granted)
    if (kept_.size() < kDeviceSetsKept && std::ranges::find(kept_, devices) == kept_.end())
      kept_.push_back(devices);
  states_.clear();  // what is no longer granted has none; the others may try at once
}

Spares::State Spares::at(const DeviceSet& devices) const {
  const auto found = states_.find(devices);
  return found == states_.end() ? State() : found->second;
}

void Spares::failed(const DeviceSet& devices, bool unusable) {
  State& state = states_[devices];
  state.due = Deadline::after(state.delay);
  state.delay = std::min(state.delay * 2, kRespawnDelayMax);
  state.unusable = unusable;
}

Deadline Spares::next() const {
  Deadline soonest = Deadline::never();
  for (const auto& [devices, state] : states_)
    if (!state.due.passed()) soonest = soonest.sooner(state.due);
  return soonest;
}

}  // namespace tf::worker
