// SPDX-License-Identifier: Apache-2.0
// Event fences: a hint for events that AMD's older runtimes refuse.
//
// hipEventDisableSystemFence lets an event do without making memory visible to the host. AMD's libamdhip64
// 5.2.3 does not know it, and creates no such event. Clients of newer majors use it, and creating an event is
// posted: they would learn of it late. An event without the hint does all that was asked for.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// Replaces hipEventCreateWithFlags of `hip`: an event that is refused with the hint is created without it.
// Once in a process, before it is called.
void mend_event_fences(protocol::HipTable& hip);

}  // namespace tf::worker
