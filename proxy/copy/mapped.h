// SPDX-License-Identifier: Apache-2.0
// Copies that the calling thread makes, between memory that is all of this process. Any thread.
#pragma once

#include "proxy/copy/plan.h"

namespace tf::proxy {

// Now. Large lines are shared with the copy threads.
void copy_mapped(CopyEngine& engine, const CopyPlan& plan);
// Row by row. Both sides are memory of this process, and do not overlap. A side may be a buffer: packed_at().
void copy_rows(const Box& box);

}  // namespace tf::proxy
