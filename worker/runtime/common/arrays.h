// SPDX-License-Identifier: Apache-2.0
// The process's arrays: they are described here as in the client. Thread-safe.
#pragma once

#include "hipcore/array/library.h"

namespace tf::runtime {

// Never destroyed: programs call HIP from destructors that run after main.
array::Library& arrays();

}  // namespace tf::runtime
