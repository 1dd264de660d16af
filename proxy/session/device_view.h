// SPDX-License-Identifier: Apache-2.0
// The worker's devices as the program is shown them: what TF_DEVICE_ID leaves of them, and what they can do
// with host memory through this session.
#pragma once

#include "hipcore/wire/device_snapshot.h"

namespace tf::proxy {

// Of all devices only this one, as device 0; none when there is no such device. Negative: all.
protocol::WorkerSnapshot only_device(protocol::WorkerSnapshot snapshot, int device);

// Makes properties and attributes say what `snapshot.host_access` gives, where the runtime could do more: a
// program looks there before it lets kernels touch its own memory.
void describe_host_access(protocol::WorkerSnapshot& snapshot);

}  // namespace tf::proxy
