// SPDX-License-Identifier: Apache-2.0
// What the examples share: a HIP call that must not fail, and the line they end with.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                       \
  do {                                                                                                    \
    const hipError_t check_error = (call);                                                                \
    if (check_error != hipSuccess) {                                                                      \
      std::printf("FAILED: %s: %s (%s:%d)\n", #call, hipGetErrorString(check_error), __FILE__, __LINE__); \
      std::exit(1);                                                                                       \
    }                                                                                                     \
  } while (false)

// Prints the verdict as the last line; the value for main() to return.
inline int verdict(long wrong, long elements) {
  if (wrong == 0) {
    std::printf("PASSED: all %ld elements correct\n", elements);
  } else {
    std::printf("FAILED: %ld of %ld elements wrong\n", wrong, elements);
  }
  return wrong == 0 ? 0 : 1;
}
