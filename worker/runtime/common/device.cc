// SPDX-License-Identifier: Apache-2.0
// Devices: which there are, what they say about themselves, which is current, waiting for them.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "hipcore/abi/properties.h"
#include "hipcore/abi/rules.h"
#include "hipcore/errors/attributes.h"
#include "hipcore/errors/limits.h"
#include "hipcore/launch/function_attributes.h"
#include "worker/runtime/common/device.h"
#include "worker/runtime/common/graph_library.h"

namespace tf::runtime {
namespace {

hipError_t bus_id(char* target, int length, int ordinal) {
  if (!target || length < 13) return hipErrorInvalidValue;
  const hipDeviceProp_t& p = Backend::properties(ordinal);
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
  for (int i = 0; i < Backend::device_count(); ++i) {
    const hipDeviceProp_t& p = Backend::properties(i);
    if (static_cast<unsigned>(p.pciDomainID) != domain || static_cast<unsigned>(p.pciBusID) != bus ||
        static_cast<unsigned>(p.pciDeviceID) != device)
      continue;
    *ordinal = i;
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}

// The device that matches most of the wishes; the first of equals.
template <typename Properties>
hipError_t choose(int* ordinal, const Properties* wish) {
  if (!ordinal || !wish) return hipErrorInvalidValue;
  int best = -1;
  for (int i = 0; i < Backend::device_count(); ++i) {
    const int score = abi::matches(*wish, Backend::properties(i));
    if (score <= best) continue;
    best = score;
    *ordinal = i;
  }
  return best < 0 ? hipErrorNoDevice : hipSuccess;
}

hipError_t attribute_of(int* value, hipDeviceAttribute_t attribute, int ordinal) {
  if (!value) return hipErrorInvalidValue;
  if (!valid_device(ordinal)) return hipErrorInvalidDevice;
  if (hipdata::answers_a_pointer(attribute)) return hipdata::answer_no_pointer(value), hipSuccess;
  return Backend::attribute(ordinal, attribute, *value);
}

hipError_t p2p_attribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  if (!value) return hipErrorInvalidValue;
  if (!valid_device(from) || !valid_device(to) || from == to) return hipErrorInvalidDevice;
  if (attribute < hipDevP2PAttrPerformanceRank || attribute > hipDevP2PAttrHipArrayAccessSupported)
    return hipErrorInvalidValue;
  return Backend::p2p_attribute(from, to, attribute, *value);
}

bool is_limit(hipLimit_t limit) {
  return limit == hipdata::kLimitStackSize || limit == hipLimitMallocHeapSize ||
         limit == hipLimitPrintfFifoSize;
}

hipError_t synchronize_current() {
  if (const hipError_t status = Backend::require_device()) return status;
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = library->refuse_device(thread().device)) return *verdict;
  return Backend::synchronize_device();
}

hipError_t set_flags(unsigned flags) {
  constexpr unsigned kKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  if (flags & ~kKnown) return hipErrorInvalidValue;
  const unsigned schedule = flags & hipDeviceScheduleMask;
  const bool one = schedule == 0 || schedule == hipDeviceScheduleSpin || schedule == hipDeviceScheduleYield ||
                   schedule == hipDeviceScheduleBlockingSync;
  if (!one) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::status()) return status;
  return Backend::set_device_flags(thread().device, schedule);  // the others mean nothing here
}

hipError_t newer_properties(hipDeviceProp_tR0600* properties, int ordinal) {
  if (!properties) return hipErrorInvalidValue;
  if (!valid_device(ordinal)) return hipErrorInvalidDevice;
  const auto attribute = [&](hipDeviceAttribute_t number) {
    int value = 0;
    return attribute_of(&value, number, ordinal) == hipSuccess ? value : 0;
  };
  abi::to_r0600(Backend::properties(ordinal), attribute, *properties);
  properties->uuid = Backend::uuid(ordinal);
  return hipSuccess;
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipInit(unsigned flags) {
  return host_api([&] { return flags == 0 ? Backend::status() : hipErrorInvalidValue; });
}

// The version of HIP that this library implements, as a program expects it; not a driver's version.
hipError_t hipDriverGetVersion(int* version) {
  return host_api(
      [&] { return version ? (*version = tf::abi::kRules.version, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipRuntimeGetVersion(int* version) {
  return host_api(
      [&] { return version ? (*version = tf::abi::kRules.version, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipGetDeviceCount(int* count) {
  return host_api([&] {
    if (!count) return hipErrorInvalidValue;
    *count = Backend::device_count();
    return Backend::status();
  });
}

hipError_t hipSetDevice(int ordinal) {
  return host_api([&] {
    if (!valid_device(ordinal)) return Backend::device_count() ? hipErrorInvalidDevice : Backend::status();
    Backend::select_device(ordinal);
    thread().has_chosen = true;
    return hipSuccess;
  });
}

// The first of the list, for a thread that has chosen none, as in AMD's runtime.
TF_EXPORT hipError_t hipSetValidDevices(int* devices, int count) {
  return host_api([&] {
    if (count == 0) return hipSuccess;
    if (const hipError_t status = Backend::status()) return status;
    if (!devices || count < 0 || count > Backend::device_count()) return hipErrorInvalidValue;
    if (!std::all_of(devices, devices + count, valid_device)) return hipErrorInvalidDevice;
    if (!thread().has_chosen) Backend::select_device(devices[0]);
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int* ordinal) {
  return host_api([&] {
    if (!ordinal) return hipErrorInvalidValue;
    if (const hipError_t status = Backend::status()) return status;
    *ordinal = thread().device;
    return hipSuccess;
  });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return host_api([&] {
    if (!device) return hipErrorInvalidValue;
    if (!valid_device(ordinal)) return hipErrorInvalidDevice;
    *device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return with_device(device, [&] {
    if (!name || length <= 0) return hipErrorInvalidValue;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", Backend::properties(device).name);
    return hipSuccess;
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return with_device(device, [&] {
    if (!uuid) return hipErrorInvalidValue;
    *uuid = Backend::uuid(device);
    return hipSuccess;
  });
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return with_device(device, [&] {
    if (!major || !minor) return hipErrorInvalidValue;
    *major = Backend::properties(device).major;
    *minor = Backend::properties(device).minor;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetPCIBusId(char* text, int length, int device) {
  return with_device(device, [&] { return bus_id(text, length, device); });
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* text) {
  return host_api([&] { return by_bus_id(device, text); });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return with_device(device, [&] {
    if (!bytes) return hipErrorInvalidValue;
    *bytes = Backend::properties(device).totalGlobalMem;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  return host_api([&] { return p2p_attribute(value, attribute, from, to); });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return host_api([&] { return attribute_of(value, attribute, device); });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return host_api([&] {
    if (!properties) return hipErrorInvalidValue;
    if (!valid_device(device)) return hipErrorInvalidDevice;
    *properties = Backend::properties(device);
    return hipSuccess;
  });
}

TF_EXPORT hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t* properties, int device) {
  return hipGetDeviceProperties(properties, device);
}

TF_EXPORT hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  return host_api([&] { return newer_properties(properties, device); });
}

hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* wish) {
  return host_api([&] { return choose(device, wish); });
}

TF_EXPORT hipError_t hipChooseDeviceR0000(int* device, const hipDeviceProp_t* wish) {
  return hipChooseDevice(device, wish);
}

TF_EXPORT hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* wish) {
  return host_api([&] { return choose(device, wish); });
}

hipError_t hipDeviceSynchronize() {
  return api([] { return synchronize_current(); });
}

hipError_t hipDeviceReset() {
  return host_api([] {
    const hipError_t status = Backend::status();
    return status == hipSuccess ? Backend::reset_device(thread().device) : status;
  });
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  return api([&] {
    return tf::hipcore::is_cache_config(config) ? Backend::set_cache_config(config) : hipErrorInvalidValue;
  });
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return api([&] { return config ? Backend::cache_config(*config) : hipErrorInvalidValue; });
}

// The banks are four bytes wide on every device; HIP allows ignoring such hints.
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  return api([&] { return tf::hipcore::is_shared_config(config) ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return api(
      [&] { return config ? (*config = hipSharedMemBankSizeFourByte, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  return api([&] {
    if (!value || tf::abi::kRules.is_beyond_limits(limit)) return hipErrorInvalidValue;
    return is_limit(limit) ? Backend::limit(limit, *value) : hipErrorUnsupportedLimit;
  });
}

TF_EXPORT hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  return api([&] {
    if (tf::abi::kRules.is_beyond_limits(limit)) return hipErrorInvalidValue;
    return is_limit(limit) ? Backend::set_limit(limit, value) : hipErrorUnsupportedLimit;
  });
}

hipError_t hipSetDeviceFlags(unsigned flags) {
  return host_api([&] { return set_flags(flags); });
}

hipError_t hipGetDeviceFlags(unsigned* flags) {
  return host_api([&] {
    if (!flags) return hipErrorInvalidValue;
    if (const hipError_t status = Backend::status()) return status;
    *flags = Backend::device_flags(thread().device);
    return hipSuccess;
  });
}

}  // extern "C"
