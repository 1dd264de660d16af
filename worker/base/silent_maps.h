// SPDX-License-Identifier: Apache-2.0
// Silent maps: those of AMD's runtime that fail and say hipSuccess.
//
// hipMemMap() of ROCm 6.0 to 6.4 starts a command, waits for it, and returns hipSuccess whatever became of it
// (clr, hipMemMap() and VirtualGPU::submitVirtualMap(), 6.2). To end such a mapping crashes. So each one is
// looked at: who may use it can be asked, or at least changed, where there is one.
#pragma once

#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/optional_functions.h"

namespace tf::worker {

// Replaces hipMemMap in both; it returns hipErrorInvalidValue where nothing is mapped. And AMD's runtime maps
// only whole handles. Once in a process, before any of them is called.
void mend_silent_maps(protocol::HipTable& hip, VmmFunctions& vmm);

}  // namespace tf::worker
