// SPDX-License-Identifier: Apache-2.0
// Devices: which there are, what they say about themselves, which is current, waiting for them.
#include <cstdio>
#include <cstring>

#include "hipcore/errors/attributes.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/properties.h"

namespace tf::cuda {
namespace {

bool valid(int ordinal) { return Runtime::get().valid_device(ordinal); }
const hipDeviceProp_t& properties_of(int ordinal) { return Runtime::get().device(ordinal).properties; }

hipError_t bus_id(char* target, int length, int ordinal) {
  if (!valid(ordinal)) return hipErrorInvalidDevice;
  if (!target || length < 13) return hipErrorInvalidValue;
  const hipDeviceProp_t& p = properties_of(ordinal);
  std::snprintf(target, static_cast<std::size_t>(length), "%04x:%02x:%02x.0",
                static_cast<unsigned>(p.pciDomainID), static_cast<unsigned>(p.pciBusID),
                static_cast<unsigned>(p.pciDeviceID));
  return hipSuccess;
}

hipError_t by_bus_id(int* ordinal, const char* text) {
  if (!ordinal || !text) return hipErrorInvalidValue;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  if (std::sscanf(text, "%8x:%4x:%4x", &domain, &bus, &device) != 3) return hipErrorInvalidValue;
  for (int i = 0; i < Runtime::get().device_count(); ++i) {
    const hipDeviceProp_t& p = properties_of(i);
    if (static_cast<unsigned>(p.pciDomainID) != domain || static_cast<unsigned>(p.pciBusID) != bus ||
        static_cast<unsigned>(p.pciDeviceID) != device)
      continue;
    *ordinal = i;
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}

// The device that matches most of the wishes; the first of equals.
hipError_t choose(int* ordinal, const hipDeviceProp_t* wish) {
  if (!ordinal || !wish) return hipErrorInvalidValue;
  int best = -1;
  for (int i = 0; i < Runtime::get().device_count(); ++i) {
    const hipDeviceProp_t& p = properties_of(i);
    int score = 0;
    if (wish->major && p.major >= wish->major) ++score;
    if (wish->totalGlobalMem && p.totalGlobalMem >= wish->totalGlobalMem) ++score;
    if (wish->sharedMemPerBlock && p.sharedMemPerBlock >= wish->sharedMemPerBlock) ++score;
    if (wish->maxThreadsPerBlock && p.maxThreadsPerBlock >= wish->maxThreadsPerBlock) ++score;
    if (score <= best) continue;
    best = score;
    *ordinal = i;
  }
  return best < 0 ? hipErrorNoDevice : hipSuccess;
}

hipError_t attribute_of(int* value, hipDeviceAttribute_t attribute, int ordinal) {
  if (!value) return hipErrorInvalidValue;
  if (!valid(ordinal)) return hipErrorInvalidDevice;
  if (hipdata::answers_a_pointer(attribute)) return hipdata::answer_no_pointer(value), hipSuccess;
  const Device& device = Runtime::get().device(ordinal);
  if (const auto fixed = fixed_attribute(device.properties, attribute)) return *value = *fixed, hipSuccess;
  const auto number = driver_attribute(attribute);
  return number ? check(cu().DeviceGetAttribute(value, *number, device.handle)) : hipErrorInvalidValue;
}

hipError_t set_flags(unsigned flags) {
  constexpr unsigned kKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  if (flags & ~kKnown) return hipErrorInvalidValue;
  const unsigned schedule = flags & hipDeviceScheduleMask;
  const bool one = schedule == 0 || schedule == hipDeviceScheduleSpin || schedule == hipDeviceScheduleYield ||
                   schedule == hipDeviceScheduleBlockingSync;
  if (!one) return hipErrorInvalidValue;
  Runtime& runtime = Runtime::get();
  if (runtime.status() != hipSuccess) return runtime.status();
  Device& device = current_device();
  // A context that is in use keeps some of its flags with older drivers. HIP lets programs set them any time.
  const driver::Result result = cu().DevicePrimaryCtxSetFlags(device.handle, flags);
  if (result != driver::Result::SUCCESS && result != driver::Result::PRIMARY_CONTEXT_ACTIVE)
    return hip_error(result);
  device.flags.store(flags, std::memory_order_relaxed);
  return hipSuccess;
}

int driver_limit(hipLimit_t limit) {
  switch (limit) {
    case hipLimitMallocHeapSize: return driver::kLimitMallocHeapBytes;
    case hipLimitPrintfFifoSize: return driver::kLimitPrintfFifoBytes;
    default: return -1;
  }
}

hipError_t synchronize_current() {
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = library->refuse_device(thread_state().device)) return *verdict;
  return check(cu().CtxSynchronize());
}

template <typename Body>
hipError_t with_device(int ordinal, Body&& body) {
  return host_api([&]() -> hipError_t { return valid(ordinal) ? body() : hipErrorInvalidDevice; });
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipInit(unsigned flags) {
  return host_api([&] { return flags == 0 ? Runtime::get().status() : hipErrorInvalidValue; });
}

// The version of HIP that this library speaks, as a program expects it: not the driver's own.
hipError_t hipDriverGetVersion(int* version) {
  return host_api([&] { return version ? (*version = HIP_VERSION, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipRuntimeGetVersion(int* version) {
  return host_api([&] { return version ? (*version = HIP_VERSION, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipGetDeviceCount(int* count) {
  return host_api([&] {
    if (!count) return hipErrorInvalidValue;
    *count = Runtime::get().device_count();
    return Runtime::get().status();
  });
}

hipError_t hipSetDevice(int ordinal) {
  return host_api([&] {
    if (!valid(ordinal))
      return Runtime::get().device_count() ? hipErrorInvalidDevice : Runtime::get().status();
    select_device(thread_state(), ordinal);
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int* ordinal) {
  return host_api([&] {
    if (!ordinal) return hipErrorInvalidValue;
    *ordinal = thread_state().device;
    return Runtime::get().status();
  });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return host_api([&] {
    if (!device) return hipErrorInvalidValue;
    if (!valid(ordinal)) return hipErrorInvalidDevice;
    *device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return with_device(device, [&] {
    if (!name || length <= 0) return hipErrorInvalidValue;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", properties_of(device).name);
    return hipSuccess;
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return with_device(device, [&] {
    if (!uuid) return hipErrorInvalidValue;
    std::memcpy(uuid->bytes, Runtime::get().device(device).uuid.bytes, sizeof uuid->bytes);
    return hipSuccess;
  });
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return with_device(device, [&] {
    if (!major || !minor) return hipErrorInvalidValue;
    *major = properties_of(device).major;
    *minor = properties_of(device).minor;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetPCIBusId(char* text, int length, int device) {
  return host_api([&] { return bus_id(text, length, device); });
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* text) {
  return host_api([&] { return by_bus_id(device, text); });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return with_device(device, [&] {
    if (!bytes) return hipErrorInvalidValue;
    *bytes = properties_of(device).totalGlobalMem;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return host_api([&] { return attribute_of(value, attribute, device); });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return host_api([&] {
    if (!properties) return hipErrorInvalidValue;
    if (!valid(device)) return hipErrorInvalidDevice;
    *properties = properties_of(device);
    return hipSuccess;
  });
}

hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* wish) {
  return host_api([&] { return choose(device, wish); });
}

hipError_t hipDeviceSynchronize() {
  return api([] { return synchronize_current(); });
}

hipError_t hipDeviceReset() {
  return host_api([] {
    Runtime& runtime = Runtime::get();
    return runtime.status() == hipSuccess ? runtime.reset(thread_state().device) : runtime.status();
  });
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  return api([&] { return check(cu().CtxSetCacheConfig(config)); });
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return api([&] {
    if (!config) return hipErrorInvalidValue;
    int value = 0;
    const hipError_t status = check(cu().CtxGetCacheConfig(&value));
    if (status == hipSuccess) *config = static_cast<hipFuncCache_t>(value);
    return status;
  });
}

// The banks are four bytes wide on every device that this driver still knows.
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) {
  return api([] { return hipSuccess; });
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return api(
      [&] { return config ? (*config = hipSharedMemBankSizeFourByte, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  return api([&] {
    if (!value) return hipErrorInvalidValue;
    const int number = driver_limit(limit);
    return number < 0 ? hipErrorUnsupportedLimit : check(cu().CtxGetLimit(value, number));
  });
}

TF_CUDA_EXPORT hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  return api([&] {
    const int number = driver_limit(limit);
    return number < 0 ? hipErrorUnsupportedLimit : check(cu().CtxSetLimit(number, value));
  });
}

hipError_t hipSetDeviceFlags(unsigned flags) {
  return host_api([&] { return set_flags(flags); });
}

hipError_t hipGetDeviceFlags(unsigned* flags) {
  return host_api([&] {
    if (!flags) return hipErrorInvalidValue;
    if (Runtime::get().status() != hipSuccess) return Runtime::get().status();
    *flags = current_device().flags.load(std::memory_order_relaxed);
    return hipSuccess;
  });
}

}  // extern "C"
