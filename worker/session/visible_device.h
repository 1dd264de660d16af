// SPDX-License-Identifier: Apache-2.0
// Makes a runtime show only some of its devices: hip-worker --device, and those that a tenant is granted. The
// runtime itself then numbers them from 0, in every call, and touches no other.
#pragma once

#include <span>

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/status.h"
#include "worker/base/runtime_library.h"

namespace tf::worker {

// Sets the variables that runtimes read when they are loaded: HIP_VISIBLE_DEVICES (AMD's and the CPU runtime)
// and CUDA_VISIBLE_DEVICES (the CUDA driver). If the operator has set one of them, the numbers are indices
// into its list. REQUIRES: `devices` are not empty; no runtime is loaded yet, and this thread is the only
// one.
void show_only(std::span<const int> devices);

// Ok if the runtime shows exactly that many devices.
Status check_only(std::span<const int> devices, const RuntimeLibrary& runtime,
                  const protocol::WorkerSnapshot& snapshot);

}  // namespace tf::worker
