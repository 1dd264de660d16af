// SPDX-License-Identifier: Apache-2.0
// Crowded reservations: those with several mappings, of which AMD's runtime since 7 may refuse to change
// access.
//
// hipMemSetAccess() of 7.2.4 takes the mappings of a reservation in the order of their objects' addresses,
// adds up their sizes, and returns hipErrorInvalidValue where no such sum is the size that it was given (seen
// in the code of libamdhip64.so.7.2.53211; 6.4.3 does not look). A lease is changed alone: so each has a
// reservation of its own, and their window has none. Each range of the client has one, as natively: more
// mappings in it would be refused more often, and fewer would keep copies from crossing their seams.
#pragma once

#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/optional_functions.h"

namespace tf::worker {

// Replaces what reserves windows, and what maps and unmaps leases, and says that ranges are apart. Not of HIP
// 6 or older. Once in a process, before any of them is called.
void mend_crowded_reservations(const protocol::HipTable& hip, VmmFunctions& vmm);

}  // namespace tf::worker
