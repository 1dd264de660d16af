// SPDX-License-Identifier: Apache-2.0
// The modules that the program has loaded, and the kernels it got from them. For other handles the driver
// says that they are invalid, or nothing at all. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::cuda {

void add_module(hipModule_t module, int device);
// False: there is no such module (any more).
bool remove_module(hipModule_t module);
bool is_module(hipModule_t module);
// Removes all modules of a device whose context goes away.
void remove_modules(int device);

void add_function(hipModule_t module, hipFunction_t function);
bool is_function(const void* function);

}  // namespace tf::cuda
