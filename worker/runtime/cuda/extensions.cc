// SPDX-License-Identifier: Apache-2.0
// The functions that hip-worker uses beyond HIP.
#include "worker/runtime/common/extensions.h"
#include "hipcore/composed/composed.h"

#include "worker/runtime/cuda/api.h"

using namespace tf::cuda;

hipError_t tf::composed::get_parameter(hipFunction_t function, size_t index, size_t& offset, size_t& bytes) {
  return hipRemoteKernelParameter(function, index, &offset, &bytes);
}

extern "C" {

TF_CUDA_EXPORT hipError_t hipRemoteKernelParameter(hipFunction_t function, size_t index, size_t* offset,
                                                   size_t* bytes) {
  return quiet_api([&] {
    if (!function || !offset || !bytes) return hipErrorInvalidValue;
    return check(cu().FuncGetParamInfo(function, index, offset, bytes));
  });
}

TF_CUDA_EXPORT const char* hipRemoteUnavailableReason(void) {
  const Runtime& runtime = Runtime::get();
  return runtime.status() == hipSuccess ? nullptr : runtime.reason().c_str();
}

}  // extern "C"
