// SPDX-License-Identifier: Apache-2.0
// The answer of every exported function that the runtime does not implement. Thread-safe.
#include <cstdio>
#include <cstdlib>

#include "worker/runtime/common/api.h"

namespace tf::runtime {

hipError_t unsupported(const char* name);

// Returns hipErrorNotSupported, and reports the function's name.
hipError_t unsupported(const char* name) {
  static const bool verbose = std::getenv(Backend::kVerboseVariable) != nullptr;
  if (verbose) std::fprintf(stderr, "%s: %s is not supported\n", Backend::kName, name);
  return remember(hipErrorNotSupported);
}

}  // namespace tf::runtime
