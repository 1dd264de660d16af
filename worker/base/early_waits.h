// SPDX-License-Identifier: Apache-2.0
// Early waits: those of AMD's runtime that end before the work is done.
//
// Up to 5.2.3 a wait for a stream forgets the last command of the stream when it ends, also a command that
// another thread has put there meanwhile. The next wait then finds nothing to wait for. (ROCclr,
// HostQueue::finish(); ROCm 5.6 has the mend, "Avoid a race condition with the last command".) The worker
// waits on threads of its own while its executor puts more work into the stream. Here it asks whether the
// work is done instead, again and again: asking forgets nothing.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// Replaces the waiting functions of `hip`, and those that create and destroy streams, which a wait for a
// device has to know. A runtime of ROCm 5.6 or newer waits itself all the same. Once in a process, before
// any of them is called.
void mend_early_waits(protocol::HipTable& hip);

}  // namespace tf::worker
