// SPDX-License-Identifier: Apache-2.0
// Managed variables of every kind, and a kernel that uses them all.
#include <hip/hip_runtime.h>

#include "managed_variables.h"

using tf::api_test::kManagedTable;

__managed__ int counter = 5;
__managed__ int table[kManagedTable] = {1, 2, 3};
namespace inside {
__managed__ tf::api_test::ManagedPoint point = {3, 2.5};
}
static __managed__ long hidden = -1;
__managed__ int* link;
__managed__ const int constant = 42;
template <typename T>
struct Holder {
  static __managed__ T value;
};
template <typename T>
__managed__ T Holder<T>::value = 7;
inline __managed__ int of_header = 11;
__managed__ unsigned char block[tf::api_test::kManagedBlockBytes];

__global__ void managed_step(int step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kManagedTable) table[i] += step;
  if (i != 0) return;
  counter += step;
  hidden -= step;
  inside::point.x += 1;
  inside::point.y *= 2;
  Holder<int>::value += 1;
  Holder<double>::value += 1;
  of_header += 2;
  if (link != nullptr) *link = constant;
  block[sizeof block - 1] = static_cast<unsigned char>(step);
}

namespace tf::api_test {

ManagedPlaces managed_places() {
  return {&counter,   table,     &inside::point,      &hidden,
          &link,      &constant, &Holder<int>::value, &Holder<double>::value,
          &of_header, block};
}

void launch_managed_step(int step, hipStream_t stream) {
  managed_step<<<(kManagedTable + 127) / 128, 128, 0, stream>>>(step);
}

}  // namespace tf::api_test
