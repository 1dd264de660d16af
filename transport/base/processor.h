// SPDX-License-Identifier: Apache-2.0
// Processors: which a thread may run on, and how many.
#pragma once

namespace tf {

// Pins the calling thread to the processor it is running on. Does nothing if the system forbids it.
void stay_on_this_processor();

// How many processors the calling thread may run on (sched_getaffinity(2)), at least one.
// std::thread::hardware_concurrency() counts the machine's, also where a container or taskset(1) grants a
// few.
unsigned usable_processors();

}  // namespace tf
