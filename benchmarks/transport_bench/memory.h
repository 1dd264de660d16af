// SPDX-License-Identifier: Apache-2.0
// What one core copies between kinds of memory: shows why a copy may be slower than another of the same size.
// Rows "memcpy_KIND_KIND" of transport "raw", beside a memcpy within the heap; the two alternate. Pinned.
#pragma once

#include "benchmarks/report/report.h"

namespace tf::bench {

// Rows "memcpy_KIND_KIND" of transport "raw", beside a memcpy within the heap; they alternate. Pinned.
void measure_memory(bool quick, Report& report);

}  // namespace tf::bench
