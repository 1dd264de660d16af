// SPDX-License-Identifier: Apache-2.0
// The process's texture references: they are bound here as in the client. Thread-safe.
#pragma once

#include "hipcore/array/references.h"

namespace tf::runtime {

// Never destroyed: programs call HIP from destructors that run after main.
array::References& references();

}  // namespace tf::runtime
