// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cuda/module.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hipcore/codeobject/fat_binary.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/modules.h"
#include "worker/runtime/cuda/properties.h"

namespace tf::cuda {
namespace {

// What is chosen from a bundle, in the order of preference.
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

}  // namespace

hipError_t load_image(hipModule_t& module, const void* image, const JitOptions& options) {
  constexpr std::uint32_t kWrapperMagic = codeobject::kWrapperMagic;
  if (std::memcmp(image, &kWrapperMagic, sizeof kWrapperMagic) == 0) {
    const auto wrapped = codeobject::wrapped_image(image);
    if (!wrapped) return hipErrorInvalidImage;
    image = wrapped.value();
  }
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) return load_bare(module, image, options);
  // Bundles say how long they are. What is neither is the driver's: PTX, or a fat binary of NVIDIA's.
  const Result<std::uint64_t> bytes = codeobject::image_extent(image);
  if (!bytes && bytes.code() == Code::kInvalidArgument) return load_bare(module, image, options);
  if (!bytes) return hipErrorInvalidImage;
  codeobject::Selected selected;
  const codeobject::Bytes bundle(static_cast<const std::byte*>(image),
                                 static_cast<std::size_t>(bytes.value()));
  if (const hipError_t status = select_entry(selected, bundle)) return status;
  return load_bare(module, selected.image.data(), options);
}

driver::Result find_function(hipFunction_t& function, hipModule_t module, const char* name) {
  const driver::Result result = cu().ModuleGetFunction(&function, module, name);
  // Drivers before CUDA 12.4 cannot be asked.
  if (result == driver::Result::SUCCESS) static_cast<void>(cu().FuncLoad(function));
  return result;
}

namespace {

hipError_t load_data(hipModule_t* module, const void* image, const JitOptions& options) {
  if (!module || !image) return hipErrorInvalidValue;
  *module = nullptr;
  const hipError_t status = load_image(*module, image, options);
  if (status == hipSuccess) add_module(*module, thread_state().device);
  return status;
}

hipError_t load_file(hipModule_t* module, const char* path) {
  if (!module || !path) return hipErrorInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return hipErrorFileNotFound;
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.empty()) return hipErrorInvalidValue;
  // The image tells its own length, which may be a lie: zeros behind a short file keep header reads inside,
  // and they end PTX.
  constexpr std::size_t kSlack_bytes = 4096;
  bytes.resize(bytes.size() + kSlack_bytes);
  return load_data(module, bytes.data(), {});
}

hipError_t load_with_options(hipModule_t* module, const void* image, unsigned count, hipJitOption* names,
                             void** values) {
  if (count == 0) return load_data(module, image, {});
  if (!names || !values || count > hipJitOptionNumOptions) return hipErrorInvalidValue;
  std::vector<int> numbers;
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] >= hipJitOptionNumOptions) return hipErrorInvalidValue;
    numbers.push_back(static_cast<int>(names[i]));
  }
  return load_data(module, image, {numbers, values});
}

hipError_t get_function(hipFunction_t* function, hipModule_t module, const char* name) {
  if (!function || !is_module(module) || !name || !*name) return hipErrorInvalidValue;
  const hipError_t status = check(find_function(*function, module, name));
  if (status == hipSuccess) add_function(module, *function);
  return status;
}

hipError_t get_global(hipDeviceptr_t* pointer, std::size_t* bytes, hipModule_t module, const char* name) {
  if ((!pointer && !bytes) || !is_module(module) || !name || !*name) return hipErrorInvalidValue;
  return check(cu().ModuleGetGlobal(pointer, bytes, module, name));
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return api([&] { return load_file(module, path); });
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return api([&] { return load_data(module, image, {}); });
}

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned count, hipJitOption* options,
                               void** values) {
  return api([&] { return load_with_options(module, image, count, options, values); });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return api([&] {
    if (!remove_module(module)) return hipErrorInvalidValue;
    const hipError_t pending = check(cu().CtxSynchronize());  // nothing of the module may still run
    forget_shared();
    const hipError_t status = check(cu().ModuleUnload(module));
    return status != hipSuccess ? status : pending;
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return api([&] { return get_function(function, module, name); });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module, const char* name) {
  return api([&] { return get_global(pointer, bytes, module, name); });
}

}  // extern "C"
