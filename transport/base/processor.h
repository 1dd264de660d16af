// SPDX-License-Identifier: Apache-2.0
// Where threads run.
#pragma once

namespace tf {

// The calling thread runs on the processor where it is, from now on. Without effect where the system does not
// let it.
void stay_on_this_processor();

}  // namespace tf
