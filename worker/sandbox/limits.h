// SPDX-License-Identifier: Apache-2.0
// Limits of a session process that the process sets itself, always: they take no rights.
#pragma once

#include <cstddef>

namespace tf::worker {

// No core files, no higher priorities, no message queues; and when the host is out of memory, this process
// and what it starts end before all others (oom_score_adj in proc(5)). `processes`: that its user may have,
// threads included; 0: as many as before. For the process as a whole; before it gives up capabilities: with
// CAP_SYS_RESOURCE it makes sure that the last one cannot be taken back.
void limit_process(std::size_t processes);

}  // namespace tf::worker
