// SPDX-License-Identifier: Apache-2.0
// The API description's words for sizes of strided memory, as the generated handlers spell them.
#pragma once

#include "hipcore/wire/extent.h"

namespace tf::worker {

using protocol::elements;
using protocol::rows;
using protocol::slices;

}  // namespace tf::worker
