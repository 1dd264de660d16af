// SPDX-License-Identifier: Apache-2.0
// The log that a program switches on and off (HIP 7.14), and where a debugger stops when HIP answers an
// error. Levels and masks are those of AMD_LOG_LEVEL and AMD_LOG_MASK.
#include <atomic>
#include <cstddef>

#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

// relaxed everywhere: a program that sets and enables in two threads orders them itself
constinit std::atomic<size_t> chosen_level{0};
constinit std::atomic<size_t> chosen_mask{0};

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;

// What counts from the next hipExtEnableLogging() on. AMD's runtime keeps the size of the log, and uses it no
// further.
TF_COMPOSED hipError_t hipExtSetLoggingParams(size_t level, size_t, size_t mask) {
  chosen_level.store(level, std::memory_order_relaxed);
  chosen_mask.store(mask, std::memory_order_relaxed);
  return hipSuccess;
}

TF_COMPOSED hipError_t hipExtEnableLogging() {
  log_calls(chosen_level.load(std::memory_order_relaxed), chosen_mask.load(std::memory_order_relaxed));
  return hipSuccess;
}

TF_COMPOSED hipError_t hipExtDisableLogging() {
  log_calls(0, 0);
  return hipSuccess;
}

// Nothing: debuggers stop here (hipcore/errors/on_error.h).
TF_COMPOSED void __hipOnError(void*) {}
