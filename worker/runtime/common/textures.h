// SPDX-License-Identifier: Apache-2.0
// The process's texture and surface objects: they are described here as in the client. Thread-safe.
#pragma once

#include "hipcore/array/textures.h"

namespace tf::runtime {

// Never destroyed: programs call HIP from destructors that run after main.
array::Textures& textures();

}  // namespace tf::runtime
