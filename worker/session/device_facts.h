// SPDX-License-Identifier: Apache-2.0
// The device facts that a client gets when it connects. Executor thread, before a client connects.
#pragma once

#include "hipcore/wire/device_snapshot.h"
#include "worker/base/runtime_library.h"

namespace tf::worker {

// Asks the runtime everything that the client needs to know. Never fails: an unanswered question is recorded
// as such, and a runtime without devices gives a snapshot without devices, with its error.
protocol::WorkerSnapshot take_snapshot(const RuntimeLibrary& runtime);

}  // namespace tf::worker
