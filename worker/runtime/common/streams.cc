// SPDX-License-Identifier: Apache-2.0
// Streams: creation, waiting, callbacks and memory operations in stream order.
#include <cstdint>
#include <utility>

#include "hipcore/abi/rules.h"
#include "hipcore/composed/composed.h"
#include "worker/runtime/common/capture.h"
#include "worker/runtime/common/compute_units.h"
#include "worker/runtime/common/extensions.h"
#include "worker/runtime/common/stream_frame.h"
#include "worker/runtime/common/stream_handles.h"

namespace tf::runtime {
namespace {

using Stream = Backend::Stream;

int unit_count() { return Backend::properties(thread().device).multiProcessorCount; }

hipError_t create(hipStream_t* handle, unsigned flags, int priority, ComputeUnits units = {}) {
  if (!handle) return hipErrorInvalidValue;
  if (flags != hipStreamDefault && flags != hipStreamNonBlocking) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  return Backend::create_stream(*handle, flags, priority, std::move(units));
}

hipError_t create_with_units(hipStream_t* handle, unsigned flags, int priority, std::uint32_t words,
                             const std::uint32_t* mask) {
  if (words == 0 || !mask) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  return create(handle, flags, priority, kept_compute_units(unit_count(), words, mask));
}

hipError_t destroy(hipStream_t handle) {
  if (!handle || handle == kLegacyStream || handle == hipStreamPerThread) return hipErrorInvalidHandle;
  Stream stream{};
  if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
  if (graph::Library* const library = capturing())
    library->forget_stream(Backend::short_reference(stream).id);
  return Backend::destroy_stream(handle);
}

// The frame of calls that a capture of the stream refuses.
template <typename Body>
hipError_t with_free_stream(hipStream_t handle, Body&& body) {
  return with_stream(handle, [&](const Stream& stream) -> hipError_t {
    const hipError_t refused = refuse_captured(stream);
    return refused == hipSuccess ? body(stream) : refused;
  });
}

// The frame of waits for a stream, and of queries (`polls`).
template <typename Body>
hipError_t with_awaited_stream(hipStream_t handle, bool polls, Body&& body) {
  return with_stream(handle, [&](const Stream& stream) -> hipError_t {
    if (graph::Library* const library = capturing()) [[unlikely]] {
      const auto verdict = library->refuse_wait(Backend::reference(stream), thread().capture_mode);
      if (verdict) return *verdict;
    }
    if (!abi::kRules.follows_null) return body(stream);
    // Who asks again and again must not fill a stream that is not done anyhow.
    if (polls && Backend::query(stream) == hipErrorNotReady) return hipErrorNotReady;
    const hipError_t followed = Backend::follow_null(stream);
    return followed == hipSuccess ? body(stream) : followed;
  });
}

hipError_t wait_event(const Stream& stream, hipEvent_t handle, unsigned flags) {
  if (flags != 0) return hipErrorInvalidValue;
  const Backend::Event event = Backend::find_event(handle);
  if (!event) return hipErrorInvalidHandle;
  if (graph::Library* const library = capturing()) [[unlikely]] {
    const auto verdict = library->capture_wait(Backend::reference(stream), Backend::reference(event));
    if (verdict) return *verdict;
  }
  return Backend::wait_event(stream, event);
}

hipError_t call_host(const Stream& stream, hipHostFn_t function, void* data) {
  if (!function) return hipErrorInvalidValue;
  if (graph::Library* const library = capturing()) [[unlikely]] {
    const auto verdict = capture(*library, stream, graph::HostWork{function, data}, Wait::kNo);
    if (verdict) return *verdict;
  }
  return Backend::call_host(stream, function, data);
}

template <typename Word>
bool is_word(const void* pointer) {
  return pointer && reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Word) == 0;
}

template <typename Word>
hipError_t wait_value(hipStream_t handle, void* pointer, Word wanted, unsigned condition, Word mask) {
  return with_free_stream(handle, [&](const Stream& stream) {
    if (!is_word<Word>(pointer) || condition > hipStreamWaitValueNor) return hipErrorInvalidValue;
    return Backend::wait_value(stream, static_cast<Word*>(pointer), wanted, condition, mask);
  });
}

template <typename Word>
hipError_t write_value(hipStream_t handle, void* pointer, Word value) {
  return with_free_stream(handle, [&](const Stream& stream) {
    if (!is_word<Word>(pointer)) return hipErrorInvalidValue;
    return Backend::write_value(stream, static_cast<Word*>(pointer), value);
  });
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

hipError_t tf::composed::create_masked_stream(hipStream_t& stream, unsigned flags, int priority, size_t words,
                                              const std::uint32_t* mask) {
  return api(
      [&] { return create_with_units(&stream, flags, priority, static_cast<std::uint32_t>(words), mask); });
}

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

// Nothing is partitioned: a mask is checked and kept, and every unit is used.
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t words, const uint32_t* mask) {
  return api([&] { return create_with_units(stream, hipStreamDefault, 0, words, mask); });
}

TF_EXPORT hipError_t hipRemoteCreateMaskedStream(hipStream_t* stream, unsigned flags, int priority,
                                                 uint32_t words, const uint32_t* mask) {
  return quiet_api([&] { return create_with_units(stream, flags, priority, words, mask); });
}

hipError_t hipExtStreamGetCUMask(hipStream_t handle, uint32_t words, uint32_t* mask) {
  return with_stream(handle, [&](const Backend::Stream& stream) {
    return give_compute_units(Backend::compute_units(stream), unit_count(), words, mask);
  });
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&] {
    int low = 0;
    int high = 0;
    if (const hipError_t status = Backend::priority_range(low, high)) return status;
    if (least) *least = low;
    if (greatest) *greatest = high;
    return hipSuccess;
  });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return api([&] { return destroy(stream); });
}

TF_EXPORT hipError_t hipRemoteFollowNull(hipStream_t handle) {
  Backend::Stream stream{};
  const hipError_t status = Backend::find_stream(handle, stream);
  return status == hipSuccess ? Backend::follow_null(stream) : status;
}

hipError_t hipStreamQuery(hipStream_t handle) {
  return with_awaited_stream(handle, true,
                             [](const Backend::Stream& stream) { return Backend::query(stream); });
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
  return with_awaited_stream(handle, false,
                             [](const Backend::Stream& stream) { return Backend::synchronize(stream); });
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned flags) {
  return with_stream(handle, [&](const Backend::Stream& stream) { return wait_event(stream, event, flags); });
}

// AMD's runtime has no flags of the null stream, by either of its names.
hipError_t hipStreamGetFlags(hipStream_t handle, unsigned* flags) {
  const bool is_null = handle == nullptr || handle == kLegacyStream;
  return with_stream(handle, [&](const Backend::Stream& stream) {
    return !is_null && flags ? Backend::stream_flags(stream, *flags) : hipErrorInvalidValue;
  });
}

TF_EXPORT hipError_t hipStreamGetId(hipStream_t handle, unsigned long long* id) {
  return with_stream(handle, [&](const Backend::Stream& stream) {
    return id ? Backend::stream_id(stream, *id) : hipErrorInvalidValue;
  });
}

hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  return with_stream(handle, [&](const Backend::Stream& stream) {
    return priority ? Backend::stream_priority(stream, *priority) : hipErrorInvalidValue;
  });
}

TF_EXPORT hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t* device) {
  return api([&] {
    if (!device) return hipErrorInvalidValue;
    Backend::Stream stream{};
    const hipError_t status = Backend::find_stream(handle, stream);
    if (status == hipSuccess) *device = Backend::reference(stream).device;
    return status;
  });
}

// -1: there is no such stream.
int hipGetStreamDeviceId(hipStream_t handle) {
  int device = -1;
  static_cast<void>(quiet_api([&] {
    Backend::Stream stream{};
    const hipError_t status = Backend::find_stream(handle, stream);
    if (status == hipSuccess) device = Backend::reference(stream).device;
    return status;
  }));
  return device;
}

hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void* data,
                                unsigned flags) {
  return with_stream(handle, [&](const Backend::Stream& stream) {
    if (!callback || flags != 0) return hipErrorInvalidValue;
    const hipError_t refused = refuse_captured(stream);
    return refused == hipSuccess ? Backend::add_callback(stream, handle, callback, data) : refused;
  });
}

TF_EXPORT hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t function, void* data) {
  return with_stream(handle,
                     [&](const Backend::Stream& stream) { return call_host(stream, function, data); });
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
