// SPDX-License-Identifier: Apache-2.0
// Errors: the thread's last one, and every code's name and text.
#include "hipcore/errors/error_text.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/runtime.h"

namespace tf::cuda {
namespace {

hipError_t& last_error() { return thread_state().last_error; }

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;
using tf::hipdata::error_text;

extern "C" {

#include "worker/runtime/common/error_functions.inc"

}  // extern "C"
