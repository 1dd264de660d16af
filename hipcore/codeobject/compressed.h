// SPDX-License-Identifier: Apache-2.0
// The CCOB container: an offload bundle that is compressed. Hostile input; no state but the loaded libraries.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "transport/base/status.h"

namespace tf::codeobject {

// Length of the container at `image`. The caller guarantees that it is whole.
Result<std::uint64_t> compressed_extent(const void* image);

}  // namespace tf::codeobject
