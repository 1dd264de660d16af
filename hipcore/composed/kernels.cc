// SPDX-License-Identifier: Apache-2.0
// Kernels of libraries (HIP 7): what they are, and what may be set of them.
#include "hipcore/composed/libraries.h"

namespace tf::composed {
namespace {

// Shared memory that a launch on that device may have on top of the kernel's own.
hipError_t get_dynamic_bytes_max(int device, hipFunction_t function, int& bytes) {
  int own_bytes = 0;
  if (const hipError_t error =
          hipFuncGetAttribute(&own_bytes, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function))
    return error;
  hipDeviceProp_t properties{};
  if (const hipError_t error = hipGetDeviceProperties(&properties, device)) return error;
  bytes = static_cast<int>(properties.sharedMemPerBlock) - own_bytes;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;

TF_COMPOSED hipError_t hipKernelGetLibrary(hipLibrary_t* library, hipKernel_t kernel) {
  if (library == nullptr || kernel == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    const Kernel* const found = libraries().find(kernel);
    if (found == nullptr) return refuse(hipErrorInvalidHandle);
    *library = found->library;
    return hipSuccess;
  });
}

// The name lives until the library is unloaded.
TF_COMPOSED hipError_t hipKernelGetName(const char** name, hipKernel_t kernel) {
  if (name == nullptr || kernel == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    const Kernel* const found = libraries().find(kernel);
    if (found == nullptr) return refuse(hipErrorInvalidHandle);
    *name = found->name.c_str();
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipKernelGetFunction(hipFunction_t* function, hipKernel_t kernel) {
  if (function == nullptr || kernel == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&] { return libraries().get_function(kernel, *function, hipErrorInvalidHandle); });
}

TF_COMPOSED hipError_t hipKernelGetAttribute(int* value, hipFunction_attribute attribute, hipKernel_t kernel,
                                             hipDevice_t device) {
  if (value == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    if (libraries().find(kernel) == nullptr) return refuse(hipErrorInvalidHandle);
    const CurrentDevice current(device);
    if (current.error() != hipSuccess) return current.error();
    const int allowed = libraries().dynamic_bytes(kernel, device);
    if (attribute == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && allowed >= 0) {
      *value = allowed;
      return hipSuccess;
    }
    hipFunction_t function = nullptr;
    if (const hipError_t error = libraries().get_function(kernel, function, hipErrorInvalidHandle))
      return error;
    return hipFuncGetAttribute(value, attribute, function);
  });
}

// Launches may have all the shared memory that there is, whatever is set here; what is set can be asked.
TF_COMPOSED hipError_t hipKernelSetAttribute(hipFunction_attribute attribute, int value, hipKernel_t kernel,
                                             hipDevice_t device) {
  if (kernel == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    if (libraries().find(kernel) == nullptr) return refuse(hipErrorInvalidDeviceFunction);
    const CurrentDevice current(device);
    if (current.error() != hipSuccess) return current.error();
    if (attribute == HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return hipSuccess;
    if (attribute != HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return refuse(hipErrorInvalidValue);
    hipFunction_t function = nullptr;
    if (const hipError_t error = libraries().get_function(kernel, function, hipErrorInvalidDeviceFunction))
      return error;
    int most = 0;
    if (const hipError_t error = get_dynamic_bytes_max(device, function, most)) return error;
    if (value < 0 || value > most) return refuse(hipErrorInvalidValue);
    libraries().allow_dynamic_bytes(kernel, device, value);
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipKernelGetParamInfo(hipKernel_t kernel, size_t index, size_t* offset,
                                             size_t* bytes) {
  if (kernel == nullptr || offset == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    hipFunction_t function = nullptr;
    if (const hipError_t error = libraries().get_function(kernel, function, hipErrorInvalidDeviceFunction))
      return error;
    size_t found_bytes = 0;
    if (const hipError_t error = get_parameter(function, index, *offset, found_bytes)) return refuse(error);
    if (bytes != nullptr) *bytes = found_bytes;
    return hipSuccess;
  });
}
