// SPDX-License-Identifier: Apache-2.0
// The front's frames, for functions that only this runtime exports.
#pragma once

#include "worker/runtime/common/api.h"
#include "worker/runtime/common/capture.h"

#define TF_CUDA_EXPORT TF_EXPORT

namespace tf::cuda {
using runtime::api;
using runtime::capture;
using runtime::host_api;
using runtime::quiet_api;
using runtime::refuse_captured;
using runtime::remember;
using runtime::Wait;
}  // namespace tf::cuda
