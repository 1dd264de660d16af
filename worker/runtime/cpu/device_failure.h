// SPDX-License-Identifier: Apache-2.0
// Kernels that fail, and telling of it.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string>

namespace tf::cpu {

// To whoever has asked for it with hipRemoteTellFailures(), else to stderr. Any thread.
void tell_failure(int device, hipError_t error, const std::string& what);

}  // namespace tf::cpu
