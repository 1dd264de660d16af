// SPDX-License-Identifier: Apache-2.0
// --device: of the devices that a runtime would show, it shows one.
#pragma once

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/status.h"
#include "worker/base/runtime_library.h"

namespace tf::worker {

// Runtimes look at the environment when they are loaded: HIP_VISIBLE_DEVICES is HIP's own (AMD's runtime and
// that of the host's cores), CUDA_VISIBLE_DEVICES the CUDA driver's. Where the operator has set one, the
// device is counted among those that it names. REQUIRES: no runtime is loaded yet, and this thread is the
// only one.
void show_only(int device);

// Whether that left the one device.
Status check_only(int device, const RuntimeLibrary& runtime, const protocol::WorkerSnapshot& snapshot);

}  // namespace tf::worker
