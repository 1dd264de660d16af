// SPDX-License-Identifier: Apache-2.0
// Which processor a measuring process runs on. Without effect where the system refuses.
#pragma once

namespace tf::bench {

enum class Processor { kFirst, kLast };

// To the first or last processor that this thread may use.
void pin_to(Processor which);
// To all processors again that the program was started with. REQUIRES: called first before any pin_to().
void unpin();

// Off the processor that this thread (or the parent it was forked from) is pinned to, so that two ends really
// run at the same time.
void leave_to_another_processor();

}  // namespace tf::bench
