// SPDX-License-Identifier: Apache-2.0
// The exported functions of streams: creation, waiting, callbacks and memory operations in stream order.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/event.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

constexpr int kLeastPriority = 1;
constexpr int kGreatestPriority = -1;
constexpr std::chrono::microseconds kWaitValuePause(20);

int unit_count(const Device& device) { return device.properties().multiProcessorCount; }

hipError_t create(hipStream_t* handle, unsigned flags, int priority, runtime::ComputeUnits units = {}) {
  if (!handle) return hipErrorInvalidValue;
  if (flags != hipStreamDefault && flags != hipStreamNonBlocking) return hipErrorInvalidValue;
  Runtime& runtime = Runtime::get();
  if (runtime.device_count() == 0) return hipErrorNoDevice;
  Device& device = current_device();
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  const auto stream = std::make_shared<Stream>(device, flags, priority, false, std::move(units));
  *handle = runtime.streams.add(stream);
  if (!*handle) return hipErrorOutOfMemory;
  device.add(stream);
  return hipSuccess;
}

hipError_t create_with_units(hipStream_t* handle, std::uint32_t words, const std::uint32_t* mask) {
  if (words == 0 || !mask) return hipErrorInvalidValue;
  if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
  return create(handle, hipStreamDefault, 0,
                runtime::kept_compute_units(unit_count(current_device()), words, mask));
}

hipError_t get_units(const Stream& stream, std::uint32_t words, std::uint32_t* mask) {
  return runtime::give_compute_units(stream.compute_units(), unit_count(current_device()), words, mask);
}

bool constant_handle(hipStream_t handle) {
  return !handle || handle == kLegacyStream || handle == hipStreamPerThread;
}

hipError_t destroy(hipStream_t handle) {
  if (constant_handle(handle)) return hipErrorInvalidHandle;
  const auto stream = Runtime::get().streams.remove(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (graph::Library* graphs = capturing()) graphs->forget_stream(reference(*stream).id);
  stream->close();
  return hipSuccess;
}

template <typename Body>
hipError_t with_stream(hipStream_t handle, Body&& body) {
  return api([&]() -> hipError_t {
    std::shared_ptr<Stream> stream;
    if (const hipError_t status = find_stream(handle, stream)) return status;
    return body(*stream);
  });
}

hipError_t wait_event(Stream& stream, hipEvent_t handle, unsigned flags) {
  if (flags != 0) return hipErrorInvalidValue;
  const auto event = Runtime::get().events.find(handle);
  if (!event) return hipErrorInvalidHandle;
  if (graph::Library* graphs = capturing()) {
    if (const auto verdict = graphs->capture_wait(reference(stream), reference(*event))) return *verdict;
  }
  event->hold(stream);
  return hipSuccess;
}

// The memory's current value; acquire pairs with the thread that writes it.
template <typename Word>
Word load(Word* address) {
  return std::atomic_ref<Word>(*address).load(std::memory_order_acquire);
}

template <typename Word>
bool satisfied(Word now, Word wanted, unsigned condition) {
  switch (condition) {
    case hipStreamWaitValueGte: return static_cast<std::make_signed_t<Word>>(now - wanted) >= 0;
    case hipStreamWaitValueEq: return now == wanted;
    case hipStreamWaitValueAnd: return (now & wanted) != 0;
    default: return static_cast<Word>(~(now | wanted)) != 0;
  }
}

template <typename Word>
hipError_t wait_value(hipStream_t handle, void* pointer, Word wanted, unsigned condition, Word mask) {
  return with_stream(handle, [&](Stream& stream) {
    if (!pointer || condition > hipStreamWaitValueNor) return hipErrorInvalidValue;
    if (reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Word)) return hipErrorInvalidValue;
    if (!Runtime::get().memory.find(pointer)) return hipErrorInvalidValue;
    if (const hipError_t refused = refuse_captured(stream)) return refused;
    Word* const word = static_cast<Word*>(pointer);
    // The program writes the value; as on a GPU this may take for ever.
    const auto task = [=, &device = stream.device()] {
      while (!satisfied<Word>(load(word) & mask, wanted & mask, condition) && device.failure() == hipSuccess)
        std::this_thread::sleep_for(kWaitValuePause);
      return hipSuccess;
    };
    stream.submit(task, Where::kThread);
    return hipSuccess;
  });
}

template <typename Word>
hipError_t write_value(hipStream_t handle, void* pointer, Word value) {
  return with_stream(handle, [&](Stream& stream) {
    if (!pointer || reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Word)) return hipErrorInvalidValue;
    if (!Runtime::get().memory.find(pointer)) return hipErrorInvalidValue;
    if (const hipError_t refused = refuse_captured(stream)) return refused;
    Word* const word = static_cast<Word*>(pointer);
    const auto store = [=] {
      // Release pairs with load() and with a program that polls.
      std::atomic_ref<Word>(*word).store(value, std::memory_order_release);
      return hipSuccess;
    };
    const auto task = [store, &device = stream.device()] { return device.run(store); };
    stream.submit(task, Where::kAtOnce);
    return hipSuccess;
  });
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipStreamCreate(hipStream_t* stream) {
  return api([&] { return create(stream, hipStreamDefault, 0); });
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return api([&] { return create(stream, flags, 0); });
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return api([&] { return create(stream, flags, priority); });
}

// The cores are not partitioned: a mask is checked and kept, and every core is used.
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t words, const uint32_t* mask) {
  return api([&] { return create_with_units(stream, words, mask); });
}

hipError_t hipExtStreamGetCUMask(hipStream_t handle, uint32_t words, uint32_t* mask) {
  return with_stream(handle, [&](Stream& stream) { return get_units(stream, words, mask); });
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&] {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
    return hipSuccess;
  });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return api([&] { return destroy(stream); });
}

hipError_t hipStreamQuery(hipStream_t handle) {
  return with_stream(handle, [](Stream& stream) {
    if (const hipError_t refused = refuse_captured(stream)) return refused;
    return stream.idle() ? stream.device().failure() : hipErrorNotReady;
  });
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
  return with_stream(handle, [](Stream& stream) {
    if (const hipError_t refused = refuse_captured(stream)) return refused;
    const hipError_t status = stream.synchronize();
    release_unused_memory(stream.device());
    return status;
  });
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned flags) {
  return with_stream(handle, [&](Stream& stream) { return wait_event(stream, event, flags); });
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned* flags) {
  return with_stream(handle, [&](Stream& stream) {
    if (!flags) return hipErrorInvalidValue;
    *flags = stream.flags();
    return hipSuccess;
  });
}

hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  return with_stream(handle, [&](Stream& stream) {
    if (!priority) return hipErrorInvalidValue;
    *priority = stream.priority();
    return hipSuccess;
  });
}

int hipGetStreamDeviceId(hipStream_t handle) {
  std::shared_ptr<Stream> stream;
  return find_stream(handle, stream) == hipSuccess ? stream->device().ordinal() : -1;
}

hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void* data,
                                unsigned flags) {
  return with_stream(handle, [&](Stream& stream) {
    if (!callback || flags != 0) return hipErrorInvalidValue;
    if (const hipError_t refused = refuse_captured(stream)) return refused;
    Stream* const self = &stream;  // alive while it runs its tasks
    const auto task = [=] {
      callback(handle, self->device().failure(), data);
      return hipSuccess;
    };
    stream.submit(task, Where::kThread);
    return hipSuccess;
  });
}

TF_CPU_EXPORT hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t function, void* data) {
  return with_stream(handle, [&](Stream& stream) {
    if (!function) return hipErrorInvalidValue;
    if (tf::graph::Library* graphs = capturing()) {
      if (const auto verdict = graphs->capture(reference(stream), tf::graph::HostWork{function, data}))
        return *verdict;
    }
    stream.submit([=] { return function(data), hipSuccess; }, Where::kThread);
    return hipSuccess;
  });
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned flags,
                                uint32_t mask) {
  return wait_value<std::uint32_t>(stream, pointer, value, flags, mask);
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned flags,
                                uint64_t mask) {
  return wait_value<std::uint64_t>(stream, pointer, value, flags, mask);
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned) {
  return write_value<std::uint32_t>(stream, pointer, value);
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned) {
  return write_value<std::uint64_t>(stream, pointer, value);
}

}  // extern "C"
