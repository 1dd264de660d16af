// SPDX-License-Identifier: Apache-2.0
// Copies that the calling thread makes, if all the memory belongs to this process. Any thread.
#pragma once

#include "proxy/copy/plan.h"

namespace tf::proxy {

// Copies now. Large lines are shared with the copy threads.
void copy_mapped(CopyEngine& engine, const CopyPlan& plan);
// Copies row by row. Both sides are memory of this process, and do not overlap. A side may be a buffer:
// packed_at().
void copy_rows(const Box& box);

}  // namespace tf::proxy
