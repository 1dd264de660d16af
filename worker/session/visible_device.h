// SPDX-License-Identifier: Apache-2.0
// hip-worker --device: makes a runtime show only one of its devices.
#pragma once

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/status.h"
#include "worker/base/runtime_library.h"

namespace tf::worker {

// Sets the variables that runtimes read when they are loaded: HIP_VISIBLE_DEVICES (AMD's and the CPU runtime)
// and CUDA_VISIBLE_DEVICES (the CUDA driver). If the operator has set one of them, `device` is an index into
// its list. REQUIRES: no runtime is loaded yet, and this thread is the only one.
void show_only(int device);

// Ok if the runtime shows exactly one device.
Status check_only(int device, const RuntimeLibrary& runtime, const protocol::WorkerSnapshot& snapshot);

}  // namespace tf::worker
