// SPDX-License-Identifier: Apache-2.0
// Where no kernels can be compiled there are no loads of them.
#include "benchmarks/hip_load/loads.h"

namespace tf::bench {

std::vector<LoadKind> grid_loads() { return {}; }

}  // namespace tf::bench
