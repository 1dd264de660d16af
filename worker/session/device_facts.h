// SPDX-License-Identifier: Apache-2.0
// What the client is told of the devices when it comes. Executor thread, before a client comes.
#pragma once

#include "hipcore/wire/device_snapshot.h"
#include "worker/base/runtime_library.h"

namespace tf::worker {

// Asks the runtime everything that the client needs to know. Never fails: an unanswered question is recorded
// as such, and a runtime without devices gives a snapshot without devices, with its error.
protocol::WorkerSnapshot take_snapshot(const RuntimeLibrary& runtime);

}  // namespace tf::worker
