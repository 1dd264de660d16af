// SPDX-License-Identifier: Apache-2.0
// Devices: their properties, waiting for them, their contexts, access between them.
#include "worker/runtime/common/extensions.h"
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/kernel/fiber.h"
#include "worker/runtime/cpu/memory.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/properties.h"

namespace tf::cpu {

static_assert(kStackLimitBytes == kFiberStackBytes);

hipUUID Backend::uuid(int ordinal) { return device_uuid(Runtime::get().device(ordinal).number()); }

hipError_t Backend::attribute(int ordinal, hipDeviceAttribute_t attribute, int& value) {
  const auto answer = attribute_of(properties(ordinal), attribute);
  if (!answer) return hipErrorInvalidValue;
  value = *answer;
  return hipSuccess;
}

hipError_t Backend::p2p_attribute(int, int, hipDeviceP2PAttr attribute, int& value) {
  value = attribute == hipDevP2PAttrAccessSupported || attribute == hipDevP2PAttrNativeAtomicSupported;
  return hipSuccess;
}

hipError_t Backend::set_device_flags(int ordinal, unsigned flags) {
  Runtime::get().device(ordinal).flags.store(flags, std::memory_order_relaxed);
  return hipSuccess;
}

hipError_t Backend::synchronize_device() {
  Device& device = current_device();
  const hipError_t status = device.synchronize();
  release_unused_memory(device);
  return status;
}

// Frees everything that the program allocated on the device; its streams end when they are drained. A failed
// device stays failed.
hipError_t Backend::reset_device(int ordinal) {
  Runtime& runtime = Runtime::get();
  Device& device = runtime.device(ordinal);
  static_cast<void>(device.synchronize());  // a wait for what runs: whether it failed is asked later
  for (const auto& stream : runtime.streams.all()) {
    if (&stream->device() != &device) continue;
    if (runtime.streams.remove(reinterpret_cast<hipStream_t>(stream.get()))) stream->close();
  }
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kManaged})
    for (const Allocation& allocation : runtime.memory.remove_all(device.ordinal(), kind)) {
      runtime.advice.forget(allocation.base, allocation.bytes);
      release_pages(allocation);
    }
  device.heap().clear();
  device.flags.store(0, std::memory_order_relaxed);
  device.peers_enabled.store(0, std::memory_order_relaxed);
  device.set_current_pool(&device.default_pool());
  release_unused_memory(device);
  return hipSuccess;
}

// Caches are not configurable here; HIP says such hints may be ignored.
hipError_t Backend::set_cache_config(hipFuncCache_t) { return hipSuccess; }

hipError_t Backend::cache_config(hipFuncCache_t& config) {
  config = hipFuncCachePreferNone;
  return hipSuccess;
}

// The heap's limit holds from the next malloc() of a kernel on. Stacks are those of fiber.h, so a program may
// lower that limit, and read it back. printf needs no buffer.
hipError_t Backend::limit(hipLimit_t limit, std::size_t& value) {
  const Device& device = current_device();
  if (limit == hipLimitPrintfFifoSize) return hipErrorUnsupportedLimit;
  const auto& kept = limit == hipLimitMallocHeapSize ? device.heap_bytes : device.stack_bytes;
  value = kept.load(std::memory_order_relaxed);
  return hipSuccess;
}

hipError_t Backend::set_limit(hipLimit_t limit, std::size_t value) {
  Device& device = current_device();
  if (limit == hipLimitPrintfFifoSize) return hipErrorUnsupportedLimit;
  const bool heap = limit == hipLimitMallocHeapSize;
  if (heap ? value >= device.total_bytes() : value > kStackLimitBytes) return hipErrorInvalidValue;
  (heap ? device.heap_bytes : device.stack_bytes).store(value, std::memory_order_relaxed);
  return hipSuccess;
}

// A context's handle is the Device.
hipError_t Backend::context(int ordinal, hipCtx_t& context) {
  context = reinterpret_cast<hipCtx_t>(&Runtime::get().device(ordinal));
  return hipSuccess;
}

int Backend::ordinal_of(hipCtx_t context) {
  for (int ordinal = 0; ordinal < device_count(); ++ordinal)
    if (reinterpret_cast<hipCtx_t>(&Runtime::get().device(ordinal)) == context) return ordinal;
  return -1;
}

bool Backend::has_context(int ordinal) {
  return Runtime::get().device(ordinal).primary_context_retained.load(std::memory_order_relaxed);
}

hipError_t Backend::retain_context(int ordinal, hipCtx_t& context) {
  Runtime::get().device(ordinal).primary_context_retained.store(true, std::memory_order_relaxed);
  return Backend::context(ordinal, context);
}

hipError_t Backend::reset_context(int) { return hipSuccess; }

// All devices share one memory, so access is only recorded.
hipError_t Backend::can_access_peer(int, int, int& answer) {
  answer = 1;
  return hipSuccess;
}

hipError_t Backend::enable_peer(int peer) {
  const std::uint32_t bit = 1u << peer;
  const std::uint32_t before = current_device().peers_enabled.fetch_or(bit, std::memory_order_relaxed);
  return before & bit ? hipErrorPeerAccessAlreadyEnabled : hipSuccess;
}

hipError_t Backend::disable_peer(int peer) {
  const std::uint32_t bit = 1u << peer;
  const std::uint32_t before = current_device().peers_enabled.fetch_and(~bit, std::memory_order_relaxed);
  return before & bit ? hipSuccess : hipErrorPeerAccessNotEnabled;
}

runtime::LinkType Backend::link_type(int, int) { return runtime::LinkType::kPci; }

}  // namespace tf::cpu

extern "C" TF_CPU_EXPORT hipError_t hipRemoteEmptyHeap(int device) {
  if (device < 0 || device >= tf::cpu::Backend::device_count()) return hipErrorInvalidDevice;
  tf::cpu::Runtime::get().device(device).heap().clear();
  return hipSuccess;
}
