// SPDX-License-Identifier: Apache-2.0
// The memory of other APIs that the program has imported.
#pragma once

#include "hipcore/memory/external_memory.h"
#include "worker/runtime/common/api.h"

namespace tf::runtime {

// One for the process.
hipcore::ExternalMemories& external_memories();

}  // namespace tf::runtime
