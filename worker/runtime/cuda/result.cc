// SPDX-License-Identifier: Apache-2.0
// Converts the driver's results to HIP's errors.
#include "worker/runtime/cuda/result.h"

namespace tf::cuda {

hipError_t hip_error(driver::Result result) {
  switch (result) {
#define TF_CUDA_RESULT(name, number, hip) \
  case driver::Result::name:              \
    return hip;
#include "worker/runtime/cuda/results.inc"
#undef TF_CUDA_RESULT
  }
  return hipErrorUnknown;
}

std::string name_of(driver::Result result) {
  switch (result) {
#define TF_CUDA_RESULT(name, number, hip) \
  case driver::Result::name:              \
    return "CUDA_ERROR_" #name;
#include "worker/runtime/cuda/results.inc"
#undef TF_CUDA_RESULT
  }
  return "CUDA_ERROR " + std::to_string(static_cast<int>(result));
}

}  // namespace tf::cuda
