// SPDX-License-Identifier: Apache-2.0
// Devices: which there are, what they say about themselves, which is current, waiting for them.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "hipcore/errors/attributes.h"
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/memory.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/properties.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kPrintfFifo_bytes = std::size_t{1} << 20;
constexpr std::size_t kMallocHeap_bytes = std::size_t{8} << 20;

bool valid(int ordinal) { return Runtime::get().valid_device(ordinal); }
const hipDeviceProp_t& properties_of(int ordinal) { return Runtime::get().device(ordinal).properties(); }

hipError_t copy_text(char* target, int length, const char* text) {
  if (!target || length <= 0) return hipErrorInvalidValue;
  std::snprintf(target, static_cast<std::size_t>(length), "%s", text);
  return hipSuccess;
}

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
  if (std::sscanf(text, "%4x:%4x:%4x", &domain, &bus, &device) != 3) return hipErrorInvalidValue;
  for (int i = 0; i < Runtime::get().device_count(); ++i) {
    const hipDeviceProp_t& p = properties_of(i);
    const bool same = static_cast<unsigned>(p.pciDomainID) == domain &&
                      static_cast<unsigned>(p.pciBusID) == bus &&
                      static_cast<unsigned>(p.pciDeviceID) == device;
    if (!same) continue;
    *ordinal = i;
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}

hipError_t uuid_of(hipUUID* uuid, int ordinal) {
  if (!valid(ordinal)) return hipErrorInvalidDevice;
  if (!uuid) return hipErrorInvalidValue;
  std::memset(uuid, 0, sizeof *uuid);
  std::snprintf(uuid->bytes, sizeof uuid->bytes, "CPU-%011d", ordinal);
  return hipSuccess;
}

hipError_t p2p_attribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  if (!value) return hipErrorInvalidValue;
  if (!valid(from) || !valid(to) || from == to) return hipErrorInvalidDevice;
  switch (attribute) {
    case hipDevP2PAttrPerformanceRank: *value = 0; return hipSuccess;
    case hipDevP2PAttrAccessSupported:
    case hipDevP2PAttrNativeAtomicSupported: *value = 1; return hipSuccess;
    case hipDevP2PAttrHipArrayAccessSupported: *value = 0; return hipSuccess;
    default: return hipErrorInvalidValue;
  }
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

hipError_t synchronize_current() {
  if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
  Device& device = current_device();
  if (graph::Library* graphs = capturing()) {
    if (const auto verdict = graphs->refuse_device(device.ordinal())) return *verdict;
  }
  const hipError_t status = device.synchronize();
  release_unused_memory(device);
  return status;
}

// Everything the program allocated on the device goes; its streams end when they have run dry. A device that
// has failed stays so.
hipError_t reset_current() {
  if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
  Runtime& runtime = Runtime::get();
  Device& device = current_device();
  static_cast<void>(device.synchronize());  // a wait for what runs: whether it failed is asked later
  for (const auto& stream : runtime.streams.all()) {
    if (&stream->device() != &device) continue;
    if (runtime.streams.remove(reinterpret_cast<hipStream_t>(stream.get()))) stream->close();
  }
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kManaged})
    for (const Allocation& allocation : runtime.memory.remove_all(device.ordinal(), kind))
      release_pages(allocation);
  device.flags.store(0, std::memory_order_relaxed);
  device.peers_enabled.store(0, std::memory_order_relaxed);
  device.set_current_pool(&device.default_pool());
  release_unused_memory(device);
  return hipSuccess;
}

hipError_t set_flags(unsigned flags) {
  constexpr unsigned kKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  if (flags & ~kKnown) return hipErrorInvalidValue;
  const unsigned schedule = flags & hipDeviceScheduleMask;
  const bool one = schedule == 0 || schedule == hipDeviceScheduleSpin || schedule == hipDeviceScheduleYield ||
                   schedule == hipDeviceScheduleBlockingSync;
  if (!one) return hipErrorInvalidValue;
  if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
  current_device().flags.store(flags, std::memory_order_relaxed);
  return hipSuccess;
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipInit(unsigned flags) {
  return api([&] {
    if (flags != 0) return hipErrorInvalidValue;
    return Runtime::get().device_count() == 0 ? hipErrorNoDevice : hipSuccess;
  });
}

hipError_t hipDriverGetVersion(int* version) {
  return api([&] { return version ? (*version = HIP_VERSION, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipRuntimeGetVersion(int* version) {
  return api([&] { return version ? (*version = HIP_VERSION, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipGetDeviceCount(int* count) {
  return api([&] {
    if (!count) return hipErrorInvalidValue;
    *count = Runtime::get().device_count();
    return *count > 0 ? hipSuccess : hipErrorNoDevice;
  });
}

hipError_t hipSetDevice(int ordinal) {
  return api([&] {
    if (!valid(ordinal)) return Runtime::get().device_count() ? hipErrorInvalidDevice : hipErrorNoDevice;
    thread_state().device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int* ordinal) {
  return api([&] {
    if (!ordinal) return hipErrorInvalidValue;
    if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
    *ordinal = thread_state().device;
    return hipSuccess;
  });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return api([&] {
    if (!device) return hipErrorInvalidValue;
    if (!valid(ordinal)) return hipErrorInvalidDevice;
    *device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return api([&] {
    return valid(device) ? copy_text(name, length, properties_of(device).name) : hipErrorInvalidDevice;
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return api([&] { return uuid_of(uuid, device); });
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return api([&] {
    if (!valid(device)) return hipErrorInvalidDevice;
    if (!major || !minor) return hipErrorInvalidValue;
    *major = properties_of(device).major;
    *minor = properties_of(device).minor;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetPCIBusId(char* text, int length, int device) {
  return api([&] { return bus_id(text, length, device); });
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* text) {
  return api([&] { return by_bus_id(device, text); });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return api([&] {
    if (!valid(device)) return hipErrorInvalidDevice;
    if (!bytes) return hipErrorInvalidValue;
    *bytes = Runtime::get().device(device).total_bytes();
    return hipSuccess;
  });
}

hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  return api([&] { return p2p_attribute(value, attribute, from, to); });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return api([&] {
    if (!value) return hipErrorInvalidValue;
    if (!valid(device)) return hipErrorInvalidDevice;
    if (tf::hipdata::answers_a_pointer(attribute)) return tf::hipdata::answer_no_pointer(value), hipSuccess;
    const auto answer = attribute_of(properties_of(device), attribute);
    if (!answer) return hipErrorInvalidValue;
    *value = *answer;
    return hipSuccess;
  });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return api([&] {
    if (!properties) return hipErrorInvalidValue;
    if (!valid(device)) return hipErrorInvalidDevice;
    *properties = properties_of(device);
    return hipSuccess;
  });
}

hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* wish) {
  return api([&] { return choose(device, wish); });
}

hipError_t hipDeviceSynchronize() {
  return api([] { return synchronize_current(); });
}

hipError_t hipDeviceReset() {
  return api([] { return reset_current(); });
}

// Caches and shared memory banks are not configurable here; HIP says such hints may be ignored.
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) {
  return api([] { return hipSuccess; });
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return api([&] { return config ? (*config = hipFuncCachePreferNone, hipSuccess) : hipErrorInvalidValue; });
}

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
    if (limit == hipLimitMallocHeapSize) return *value = kMallocHeap_bytes, hipSuccess;
    if (limit == hipLimitPrintfFifoSize) return *value = kPrintfFifo_bytes, hipSuccess;
    return hipErrorUnsupportedLimit;
  });
}

hipError_t hipSetDeviceFlags(unsigned flags) {
  return api([&] { return set_flags(flags); });
}

hipError_t hipGetDeviceFlags(unsigned* flags) {
  return api([&] {
    if (!flags) return hipErrorInvalidValue;
    if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
    *flags = current_device().flags.load(std::memory_order_relaxed);
    return hipSuccess;
  });
}

}  // extern "C"
