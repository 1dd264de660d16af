// SPDX-License-Identifier: Apache-2.0
// Which modules the program has loaded, and which kernels it got from them: of other handles the driver says
// that they are invalid, or nothing at all. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::cuda {

void add_module(hipModule_t module, int device);
// False: there is none, or not any more.
bool remove_module(hipModule_t module);
bool is_module(hipModule_t module);
// All of a device whose context goes.
void remove_modules(int device);

void add_function(hipModule_t module, hipFunction_t function);
bool is_function(const void* function);

}  // namespace tf::cuda
