// SPDX-License-Identifier: Apache-2.0
// The front's frames, for functions that only this runtime exports.
#pragma once

#include "worker/runtime/common/api.h"

#define TF_CPU_EXPORT TF_EXPORT

namespace tf::cpu {
using runtime::api;
using runtime::host_api;
using runtime::remember;
}  // namespace tf::cpu
