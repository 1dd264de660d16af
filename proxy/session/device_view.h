// SPDX-License-Identifier: Apache-2.0
// The worker's devices as the program sees them: those selected by TF_DEVICE_ID, and what they can do with
// host memory, and the host with theirs, in this session.
#pragma once

#include "hipcore/wire/device_snapshot.h"

namespace tf::proxy {

// Keeps only this device, as device 0; none if it does not exist. Negative: keeps all.
protocol::WorkerSnapshot only_device(protocol::WorkerSnapshot snapshot, int device);

// Sets properties and attributes to what `snapshot.host_access` provides, where the runtime could do more:
// programs check them before they let kernels touch their own memory. `mirrors_pinned`: with a mirror,
// kernels use a copy of pinned memory; atomics of both sides at once do not meet there.
void describe_host_access(protocol::WorkerSnapshot& snapshot, bool mirrors_pinned);

// The same for `snapshot.device_access`: programs with a large BAR use device memory as their own.
void describe_device_access(protocol::WorkerSnapshot& snapshot);

}  // namespace tf::proxy
