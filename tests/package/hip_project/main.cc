// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

int* device_numbers(int n);
const char* compiled_as();

int main() {
  constexpr int kNumbers = 1000;
  int* numbers = device_numbers(kNumbers);
  if (numbers == nullptr) return 2;
  add_indices(numbers, kNumbers, 3);
  std::vector<int> host(kNumbers);
  if (hipMemcpy(host.data(), numbers, kNumbers * sizeof(int), hipMemcpyDeviceToHost) != hipSuccess) return 3;
  for (int i = 0; i < kNumbers; ++i) {
    if (host[i] != 3 * i) return 4;
  }
  std::printf("right: %d numbers; plain.cc is %s\n", kNumbers, compiled_as());
  return hipFree(numbers) == hipSuccess ? 0 : 5;
}
