// SPDX-License-Identifier: Apache-2.0
// The driver, its devices and their contexts.
#include "worker/runtime/cuda/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "hipcore/graph/box.h"
#include "transport/base/mutex.h"
#include "worker/runtime/common/managed_variables.h"
#include "worker/runtime/common/programs.h"
#include "worker/runtime/cuda/modules.h"
#include "worker/runtime/cuda/properties.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {

namespace internal {
constinit driver::Driver table{};
constinit std::atomic<std::uint32_t> epoch{1};
constinit thread_local ThreadState own_thread_state{};
}  // namespace internal

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;  // for ever, see the header
  return *runtime;
}

Runtime::Runtime() {
  reason_ = driver::load(internal::table);
  int count = 0;
  if (reason_.empty()) {
    driver::Result result = cu().Init(0);
    if (result == driver::Result::SUCCESS) result = cu().DeviceGetCount(&count);
    if (result != driver::Result::SUCCESS) {
      status_ = hip_error(result);
      reason_ = "the CUDA driver does not start: " + name_of(result);
    } else if (count <= 0) {
      reason_ = "the CUDA driver has no device";
    }
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto device = std::make_unique<Device>();
    if (cu().DeviceGet(&device->handle, ordinal) != driver::Result::SUCCESS) break;
    device->properties = make_properties(cu(), device->handle);
    static_cast<void>(cu().DeviceGetUuid(&device->uuid, device->handle));
    devices_.push_back(std::move(device));
  }
  if (!devices_.empty()) status_ = hipSuccess;
  if (status_ != hipSuccess && std::getenv("HIP_CUDA_VERBOSE"))
    std::fprintf(stderr, "hip-cuda: %s\n", reason_.c_str());
}

hipError_t Runtime::context(int ordinal, driver::Context& context) {
  Device& device = *devices_[static_cast<std::size_t>(ordinal)];
  // Acquire pairs with the release below: the context is complete.
  context = device.context.load(std::memory_order_acquire);
  if (context) return hipSuccess;
  const MutexLock lock(mutex_);
  context = device.context.load(std::memory_order_relaxed);
  if (context) return hipSuccess;
  const driver::Result result = cu().DevicePrimaryCtxRetain(&context, device.handle);
  if (result != driver::Result::SUCCESS) return hip_error(result);
  device.context.store(context, std::memory_order_release);
  return hipSuccess;
}

hipError_t Runtime::mark(int ordinal, driver::Address& byte) {
  std::atomic<driver::Address>& mark = devices_[static_cast<std::size_t>(ordinal)]->mark;
  byte = mark.load(std::memory_order_acquire);  // pairs with the release below
  if (byte) return hipSuccess;
  const MutexLock lock(mutex_);
  byte = mark.load(std::memory_order_relaxed);
  if (byte) return hipSuccess;
  if (const hipError_t error = check(cu().MemAlloc(&byte, 1))) return error;
  mark.store(byte, std::memory_order_release);
  return hipSuccess;
}

int Runtime::ordinal_of(driver::Context context) const {
  for (std::size_t ordinal = 0; context && ordinal < devices_.size(); ++ordinal)
    if (devices_[ordinal]->context.load(std::memory_order_relaxed) == context)
      return static_cast<int>(ordinal);
  return -1;
}

hipError_t Runtime::make_ready(ThreadState& self) {
  if (status_ != hipSuccess) return status_;
  const std::uint32_t epoch = internal::epoch.load(std::memory_order_relaxed);
  driver::Context wanted = nullptr;
  if (const hipError_t error = context(self.device, wanted)) return error;
  if (const hipError_t error = check(cu().CtxSetCurrent(wanted))) return error;
  self.ready_epoch = epoch;
  return hipSuccess;
}

void Runtime::forget_advice(void* pointer) {
  void* base = nullptr;
  std::size_t bytes = 0;
  const bool any =
      std::any_of(devices_.begin(), devices_.end(), [](const auto& d) { return d->advice.any(); });
  if (!any || cu().MemGetAddressRange(&base, &bytes, pointer) != driver::Result::SUCCESS) return;
  if (base != pointer) return;
  for (const auto& device : devices_) device->advice.forget(graph::address_of(base), bytes);
}

hipError_t Runtime::reset(int ordinal) {
  Device& device = *devices_[static_cast<std::size_t>(ordinal)];
  if (device.context.load(std::memory_order_acquire)) runtime::managed_variables().take_from(ordinal);
  runtime::programs().forget_modules(ordinal);
  remove_modules(ordinal);
  remove_streams(ordinal);
  host_memory.remove_all(ordinal);
  late_work.forget(ordinal);
  device.advice.forget(0, UINT64_MAX);
  const MutexLock lock(mutex_);
  device.flags.store(0, std::memory_order_relaxed);
  if (!device.context.load(std::memory_order_relaxed)) return hipSuccess;
  const hipError_t error = check(cu().DevicePrimaryCtxReset(device.handle));
  // Ours was the only reference: the next one creates it again.
  static_cast<void>(cu().DevicePrimaryCtxRelease(device.handle));
  device.context.store(nullptr, std::memory_order_release);
  device.mark.store(nullptr, std::memory_order_release);  // it went with the context
  internal::epoch.fetch_add(1, std::memory_order_relaxed);
  return error;
}

hipError_t Runtime::synchronize_all() {
  ThreadState& self = thread_state();
  hipError_t first = hipSuccess;
  for (std::size_t ordinal = 0; ordinal < devices_.size(); ++ordinal) {
    const driver::Context context = devices_[ordinal]->context.load(std::memory_order_acquire);
    if (!context) continue;
    const bool is_mine = static_cast<int>(ordinal) == self.device;
    if (!is_mine) {
      self.ready_epoch = 0;
      if (cu().CtxSetCurrent(context) != driver::Result::SUCCESS) continue;
    }
    const hipError_t error = check(cu().CtxSynchronize());
    if (first == hipSuccess) first = error;
  }
  const hipError_t again = is_ready(self) ? hipSuccess : make_ready(self);
  return first != hipSuccess ? first : again;
}

}  // namespace tf::cuda
