// SPDX-License-Identifier: Apache-2.0
// Reporting kernels that fail.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string>

namespace tf::cpu {

// Reports to the listener of hipRemoteTellFailures(), else to stderr. Any thread.
void tell_failure(int device, hipError_t error, const std::string& what);

}  // namespace tf::cpu
