// SPDX-License-Identifier: Apache-2.0
// The worker's devices as the program sees them: those that TF_DEVICE_ID, ROCR_VISIBLE_DEVICES and
// HIP_VISIBLE_DEVICES choose, and what they can do with host memory, and the host with theirs, in this
// session.
#pragma once

#include <span>
#include <vector>

#include "hipcore/devices/visible_devices.h"
#include "hipcore/wire/device_snapshot.h"

namespace tf::proxy {

// The worker's ordinals of the devices that the program sees, in its order. `only`: the one that TF_DEVICE_ID
// names; negative: all. The lists choose among these.
std::vector<int> seen_devices(const protocol::WorkerSnapshot& snapshot, int only,
                              const hipcore::VisibleDevices& visible);

// Keeps these, in this order. REQUIRES: they are the snapshot's, and none stands there twice
protocol::WorkerSnapshot keep_devices(protocol::WorkerSnapshot snapshot, std::span<const int> devices);

// Sets properties and attributes to what `snapshot.host_access` provides, where the runtime could do more:
// programs check them before they let kernels touch their own memory. `mirrors_pinned`: with a mirror,
// kernels use a copy of pinned memory; atomics of both sides at once do not meet there.
void describe_host_access(protocol::WorkerSnapshot& snapshot, bool mirrors_pinned);

// The same for `snapshot.device_access`: programs with a large BAR use device memory as their own.
void describe_device_access(protocol::WorkerSnapshot& snapshot);

}  // namespace tf::proxy
