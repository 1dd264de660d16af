// SPDX-License-Identifier: Apache-2.0
// Schedule: a plan cut into segments that the worker runs as one graph (kernels, fills, copies on the
// device), and the steps between them that need the client: copies from and to its memory, host functions,
// events.
//
// The steps run one after the other on the launching stream. The client's part uses ordinary stream
// operations: its payload passes through the worker's staging like any copy's, and no buffer lives longer
// than its step. Graphs without such steps, the common case, are one segment. Pure functions; values.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hipcore/graph/graph.h"

namespace tf::proxy {

// What an item needs from the client.
enum class ItemPlace {
  kDevice,      // nothing: part of a segment
  kToDevice,    // its memory is read
  kFromDevice,  // its memory is written
  kOnHost,      // the client does all of it
  kEvent,
  kBatch,  // waits and writes on the stream
};
using PlaceOf = std::function<ItemPlace(const graph::Work&)>;

struct ScheduledItem {
  graph::SharedWork work;
  std::vector<std::uint32_t> dependencies;  // positions in the same segment
};

struct ScheduleStep {
  ItemPlace place = ItemPlace::kDevice;
  std::vector<ScheduledItem> segment;  // of kDevice
  graph::SharedWork work;              // of the others
  // It reads client memory that an earlier step writes: wait for that step first.
  bool wait_first = false;
  // The same, for steps of the previous launch.
  bool wait_for_previous = false;
};
using Schedule = std::vector<ScheduleStep>;

Schedule make_schedule(const graph::Plan& plan, const PlaceOf& place_of);

}  // namespace tf::proxy
