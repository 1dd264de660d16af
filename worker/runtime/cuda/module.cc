// SPDX-License-Identifier: Apache-2.0
// Modules: images for the driver, their content, and their handles.
#include "worker/runtime/cuda/module.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/nvidia.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/modules.h"
#include "worker/runtime/cuda/properties.h"

namespace tf::cuda {
namespace {

// The targets to choose from a bundle, in order of preference.
std::vector<std::string> fitting_targets(const hipDeviceProp_t& device) {
  std::vector<std::string> targets{architecture(device.major, device.minor) + "a"};
  for (int minor = device.minor; minor >= 0; --minor) targets.push_back(architecture(device.major, minor));
  return targets;
}

hipError_t select_entry(codeobject::Selected& selected, codeobject::Bytes bundle) {
  for (const std::string& target : fitting_targets(current_device().properties)) {
    Result<codeobject::Selected> found = codeobject::select_code_object(bundle, target);
    if (found) {
      selected = std::move(*found);
      return hipSuccess;
    }
    if (found.status().code() == Code::kInvalidArgument) return hipErrorInvalidImage;
  }
  return hipErrorNoBinaryForGpu;
}

void complain(const char* log) {
  if (log[0] != '\0' && std::getenv("HIP_CUDA_VERBOSE")) std::fprintf(stderr, "hip-cuda: %s\n", log);
}

// The program's options, and where it has none of its own a place for the compiler's words.
hipError_t load_bare(hipModule_t& module, const void* image, const JitOptions& options) {
  std::vector<int> names(options.names.begin(), options.names.end());
  std::vector<void*> values(options.values, options.values + names.size());
  std::array<char, 4096> log{};
  bool has_log = false;
  for (const int name : names) has_log = has_log || name == driver::kJitErrorLogBuffer;
  if (!has_log) {
    names.push_back(driver::kJitErrorLogBuffer);
    values.push_back(log.data());
    names.push_back(driver::kJitErrorLogBufferBytes);
    values.push_back(reinterpret_cast<void*>(log.size() - 1));
  }
  const driver::Result result =
      cu().ModuleLoadDataEx(&module, image, static_cast<unsigned>(names.size()), names.data(), values.data());
  std::copy_n(values.begin(), options.names.size(), options.values);  // some options answer in their value
  if (result != driver::Result::SUCCESS) complain(log.data());
  return check(result);
}

// Cubins are not looked into: what makes text of HIP's sources makes no cubins.
std::vector<codeobject::ManagedVariable> managed_in(const void* image) {
  const auto* const text = static_cast<const char*>(image);
  if (!codeobject::starts_ptx(text, codeobject::kMaxPtxHeadBytes)) return {};
  Result<std::uint64_t> bytes = codeobject::ptx_extent(text);
  if (!bytes) return {};
  return codeobject::managed_variables(
      codeobject::Bytes(static_cast<const std::byte*>(image), static_cast<std::size_t>(*bytes)));
}

// What kernels read, a pointer, gets the address.
hipError_t bind(hipModule_t module, const char* name, void* memory) {
  void* pointer = nullptr;
  std::size_t bytes = 0;
  const driver::Result found = cu().ModuleGetGlobal(&pointer, &bytes, module, name);
  if (found == driver::Result::NOT_FOUND) return hipErrorInvalidSymbol;
  if (const hipError_t status = check(found)) return status;
  if (bytes != sizeof memory) return hipErrorInvalidSymbol;
  return check(cu().Memcpy(pointer, &memory, sizeof memory));
}

// Managed memory for a variable of a module that the program loads, with its first value.
hipError_t place(hipModule_t module, const codeobject::ManagedVariable& variable) {
  void* initial = nullptr;
  std::size_t bytes = 0;
  const hipError_t known = check(cu().ModuleGetGlobal(&initial, &bytes, module, variable.initial.c_str()));
  if (known != hipSuccess) return known;
  void* memory = nullptr;
  if (const hipError_t status = Backend::allocate_variable(memory, bytes)) return status;
  add_managed(module, variable.name, {memory, bytes});
  if (const hipError_t status = check(cu().Memcpy(memory, initial, bytes))) return status;
  return bind(module, variable.name.c_str(), memory);
}

void release_managed(hipModule_t module) {
  for (const ManagedMemory& gone : take_managed(module)) Backend::release_variable(gone.memory, gone.bytes);
}

}  // namespace

hipError_t load_image(hipModule_t& module, const void* image, const JitOptions& options,
                      std::vector<codeobject::ManagedVariable>* managed) {
  constexpr std::uint32_t kWrapperMagic = codeobject::kWrapperMagic;
  if (std::memcmp(image, &kWrapperMagic, sizeof kWrapperMagic) == 0) {
    const auto wrapped = codeobject::wrapped_image(image);
    if (!wrapped) return hipErrorInvalidImage;
    image = wrapped.value();
  }
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) return load_bare(module, image, options);
  // Bundles state their length. Anything else is for the driver: PTX, or one of NVIDIA's fat binaries.
  const Result<std::uint64_t> bytes = codeobject::image_extent(image);
  if (!bytes && bytes.code() == Code::kInvalidArgument) {
    if (managed) *managed = managed_in(image);
    return load_bare(module, image, options);
  }
  if (!bytes) return hipErrorInvalidImage;
  codeobject::Selected selected;
  const codeobject::Bytes bundle(static_cast<const std::byte*>(image),
                                 static_cast<std::size_t>(bytes.value()));
  if (const hipError_t status = select_entry(selected, bundle)) return status;
  if (managed) *managed = managed_in(selected.image.data());
  return load_bare(module, selected.image.data(), options);
}

driver::Result find_function(hipFunction_t& function, hipModule_t module, const char* name) {
  const driver::Result result = cu().ModuleGetFunction(&function, module, name);
  // Drivers before CUDA 12.4 cannot be asked.
  if (result == driver::Result::SUCCESS) static_cast<void>(cu().FuncLoad(function));
  return result;
}

hipError_t Backend::load_program(const void* image, int, ProgramModule& module) {
  return load_image(module, image, {});
}

bool Backend::find_in_program(const ProgramModule& module, const char* name, Kernel& kernel) {
  return cuda::find_function(kernel, module, name) == driver::Result::SUCCESS;
}

hipError_t Backend::variable_in_program(const ProgramModule& module, const char* name, void*& address,
                                        std::size_t& bytes) {
  const driver::Result result = cu().ModuleGetGlobal(&address, &bytes, module, name);
  return result == driver::Result::NOT_FOUND ? hipErrorInvalidSymbol : check(result);
}

hipError_t Backend::bind_in_program(const ProgramModule& module, const char* name, void* memory) {
  return bind(module, name, memory);
}

void Backend::unload_program(const ProgramModule& module) {
  static_cast<void>(cu().ModuleUnload(module));  // at the program's end the driver may be gone
}

hipError_t Backend::load_module(hipModule_t& module, const void* image, unsigned count, hipJitOption* options,
                                void** values) {
  if (count != 0 && (!options || !values || count > hipJitOptionNumOptions)) return hipErrorInvalidValue;
  std::vector<int> numbers;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] >= hipJitOptionNumOptions) return hipErrorInvalidValue;
    numbers.push_back(static_cast<int>(options[i]));
  }
  module = nullptr;
  std::vector<codeobject::ManagedVariable> managed;
  if (const hipError_t status = load_image(module, image, {numbers, values}, &managed)) return status;
  add_module(module, thread_state().device);
  for (const codeobject::ManagedVariable& variable : managed) {
    const hipError_t placed = place(module, variable);
    if (placed == hipSuccess) continue;
    static_cast<void>(unload_module(module));
    return placed;
  }
  return hipSuccess;
}

hipError_t Backend::unload_module(hipModule_t module) {
  if (!remove_module(module)) return hipErrorInvalidValue;
  const hipError_t pending = check(cu().CtxSynchronize());  // nothing of the module may still run
  forget_shared();
  release_managed(module);
  const hipError_t status = check(cu().ModuleUnload(module));
  return status != hipSuccess ? status : pending;
}

hipError_t Backend::module_function(hipModule_t module, const char* name, hipFunction_t& function) {
  if (!is_module(module)) return hipErrorInvalidValue;
  const hipError_t status = check(cuda::find_function(function, module, name));
  if (status == hipSuccess) add_function(module, function);
  return status;
}

// Drivers before CUDA 12.4 do not say: hipErrorNotSupported.
hipError_t Backend::module_function_count(hipModule_t module, unsigned& count) {
  return is_module(module) ? check(cu().ModuleGetFunctionCount(&count, module)) : hipErrorInvalidHandle;
}

hipError_t Backend::module_variable(hipModule_t module, const char* name, void*& address,
                                    std::size_t& bytes) {
  if (!is_module(module)) return hipErrorInvalidValue;
  if (const auto managed = find_managed(module, name)) {
    address = managed->memory;
    bytes = managed->bytes;
    return hipSuccess;
  }
  return check(cu().ModuleGetGlobal(&address, &bytes, module, name));
}

hipError_t Backend::bind_in_module(hipModule_t module, const char* name, void* memory) {
  if (!is_module(module)) return hipErrorInvalidHandle;
  const hipError_t status = bind(module, name, memory);
  return status == hipErrorInvalidSymbol ? hipErrorNotFound : status;
}

}  // namespace tf::cuda
