// SPDX-License-Identifier: Apache-2.0
// How the runtime takes a descriptor: hipMemImportFromShareableHandle() takes a pointer to it up to HIP 6,
// and 7.2 takes its number. Which of them 7.0 and 7.1 take is not known here, and who reads a number as a
// pointer crashes. So it is found out once, with memory that is known to be good.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// Imports a descriptor of memory that this process has just exported, and releases it again. False: the
// runtime imports none. Once in a process, before import_physical().
bool find_import_form(const protocol::HipTable& runtime, int descriptor);

// The descriptor stays the caller's. Any thread.
hipError_t import_physical(const protocol::HipTable& runtime, int descriptor,
                           hipMemGenericAllocationHandle_t& memory);

}  // namespace tf::worker
