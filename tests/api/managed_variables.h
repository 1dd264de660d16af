// SPDX-License-Identifier: Apache-2.0
// The managed variables of the test program, and the kernels that use them (managed_variables.hip).
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::api_test {

inline constexpr int kManagedTable = 5000;
inline constexpr int kManagedBlockBytes = 1 << 20;

struct ManagedPoint {
  int x;
  double y;
};

// Where host code finds them now: a device that is reset may move them.
struct ManagedPlaces {
  int* counter;           // 5 at the start
  int* table;             // kManagedTable, of which the first three are 1, 2, 3
  ManagedPoint* point;    // {3, 2.5}, in a namespace
  long* hidden;           // static, -1
  int** link;             // null
  const int* constant;    // 42
  int* of_template;       // 7
  double* of_template_2;  // 7
  int* of_header;         // inline, 11
  unsigned char* block;   // kManagedBlockBytes of zeros
};
ManagedPlaces managed_places();

// table[i] += step, counter += step, hidden -= step; point.x += 1, point.y *= 2; the template's += 1, the
// header's += 2; *link = constant, if it is not null; the last byte of the block = step.
void launch_managed_step(int step, hipStream_t stream);

}  // namespace tf::api_test
