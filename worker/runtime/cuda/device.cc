// SPDX-License-Identifier: Apache-2.0
// Devices: their properties, waiting for them, their contexts, access between them.
#include <cstring>

#include "hipcore/errors/limits.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/properties.h"

namespace tf::cuda {
namespace {

driver::Device device_of(int ordinal) { return Runtime::get().device(ordinal).handle; }

int driver_limit(hipLimit_t limit) {
  switch (static_cast<int>(limit)) {  // kLimitStackSize is not in the enum of HIP 5.2
    case hipdata::kLimitStackSize: return driver::kLimitStackBytes;
    case hipLimitMallocHeapSize: return driver::kLimitMallocHeapBytes;
    case hipLimitPrintfFifoSize: return driver::kLimitPrintfFifoBytes;
    default: return -1;
  }
}

}  // namespace

hipUUID Backend::uuid(int ordinal) {
  hipUUID uuid;
  std::memcpy(uuid.bytes, Runtime::get().device(ordinal).uuid.bytes, sizeof uuid.bytes);
  return uuid;
}

hipError_t Backend::attribute(int ordinal, hipDeviceAttribute_t attribute, int& value) {
  const Device& device = Runtime::get().device(ordinal);
  if (const auto fixed = fixed_attribute(device.properties, attribute)) return value = *fixed, hipSuccess;
  const auto number = driver_attribute(attribute);
  return number ? check(cu().DeviceGetAttribute(&value, *number, device.handle)) : hipErrorInvalidValue;
}

hipError_t Backend::p2p_attribute(int from, int to, hipDeviceP2PAttr attribute, int& value) {
  return check(cu().DeviceGetP2PAttribute(&value, static_cast<int>(attribute) + 1,  // CUDA counts from 1
                                          device_of(from), device_of(to)));
}

hipError_t Backend::set_device_flags(int ordinal, unsigned flags) {
  Device& device = Runtime::get().device(ordinal);
  // With older drivers a context in use keeps some of its flags. HIP lets programs set them at any time.
  const driver::Result result = cu().DevicePrimaryCtxSetFlags(device.handle, flags);
  if (result != driver::Result::SUCCESS && result != driver::Result::PRIMARY_CONTEXT_ACTIVE)
    return hip_error(result);
  device.flags.store(flags, std::memory_order_relaxed);
  return hipSuccess;
}

hipError_t Backend::synchronize_device() { return check(cu().CtxSynchronize()); }

hipError_t Backend::set_cache_config(hipFuncCache_t config) { return check(cu().CtxSetCacheConfig(config)); }

hipError_t Backend::cache_config(hipFuncCache_t& config) {
  int value = 0;
  const hipError_t status = check(cu().CtxGetCacheConfig(&value));
  if (status == hipSuccess) config = static_cast<hipFuncCache_t>(value);
  return status;
}

hipError_t Backend::limit(hipLimit_t limit, std::size_t& value) {
  return check(cu().CtxGetLimit(&value, driver_limit(limit)));
}

hipError_t Backend::set_limit(hipLimit_t limit, std::size_t value) {
  return check(cu().CtxSetLimit(driver_limit(limit), value));
}

hipError_t Backend::switch_profiler(bool on) {
  return check(on ? cu().ProfilerStart() : cu().ProfilerStop());
}

hipError_t Backend::can_access_peer(int device, int peer, int& answer) {
  return check(cu().DeviceCanAccessPeer(&answer, device_of(device), device_of(peer)));
}

hipError_t Backend::enable_peer(int peer) {
  driver::Context context = nullptr;
  const hipError_t status = Backend::context(peer, context);
  return status == hipSuccess ? check(cu().CtxEnablePeerAccess(context, 0)) : status;
}

hipError_t Backend::disable_peer(int peer) {
  driver::Context context = nullptr;
  const hipError_t status = Backend::context(peer, context);
  return status == hipSuccess ? check(cu().CtxDisablePeerAccess(context)) : status;
}

// AMD's counterpart of NVLink has native atomics, as NVIDIA's has.
runtime::LinkType Backend::link_type(int first, int second) {
  int native_atomics = 0;
  static_cast<void>(p2p_attribute(first, second, hipDevP2PAttrNativeAtomicSupported, native_atomics));
  return native_atomics ? runtime::LinkType::kXgmi : runtime::LinkType::kPci;
}

}  // namespace tf::cuda
