// SPDX-License-Identifier: Apache-2.0
// Pinning threads to processors.
#pragma once

namespace tf {

// Pins the calling thread to the processor it is running on. Does nothing if the system forbids it.
void stay_on_this_processor();

}  // namespace tf
