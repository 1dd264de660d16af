// SPDX-License-Identifier: Apache-2.0
// The modules that the program has loaded, and the kernels it got from them. For other handles the driver
// says that they are invalid, or nothing at all. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tf::cuda {

void add_module(hipModule_t module, int device);
// False: there is no such module (any more).
bool remove_module(hipModule_t module);
bool is_module(hipModule_t module);
// Removes all modules of a device whose context goes away.
void remove_modules(int device);

// Memory of the managed variables of modules.
struct ManagedMemory {
  void* memory = nullptr;
  std::size_t bytes = 0;
};
void add_managed(hipModule_t module, const std::string& name, ManagedMemory memory);
std::optional<ManagedMemory> find_managed(hipModule_t module, std::string_view name);
// Whether such memory starts there, or that of a program's managed variable: it is nobody's to free.
bool is_managed_variable(const void* memory);
// They are the caller's to release.
std::vector<ManagedMemory> take_managed(hipModule_t module);

void add_function(hipModule_t module, hipFunction_t function);
bool is_function(const void* function);

}  // namespace tf::cuda
