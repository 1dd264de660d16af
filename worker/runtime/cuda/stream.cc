// SPDX-License-Identifier: Apache-2.0
// Streams: creation, waiting, callbacks and memory operations in stream order.
#include <cstdint>
#include <memory>
#include <utility>

#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {
namespace {

int unit_count() { return current_device().properties.multiProcessorCount; }

hipError_t create(hipStream_t* stream, unsigned flags, int priority, runtime::ComputeUnits units = {}) {
  if (!stream) return hipErrorInvalidValue;
  if (flags != hipStreamDefault && flags != hipStreamNonBlocking) return hipErrorInvalidValue;
  const hipError_t status = check(cu().StreamCreateWithPriority(stream, flags, priority));
  if (status == hipSuccess) add_stream(*stream, thread_state().device, std::move(units));
  return status;
}

hipError_t create_with_units(hipStream_t* stream, std::uint32_t words, const std::uint32_t* mask) {
  if (words == 0 || !mask) return hipErrorInvalidValue;
  return create(stream, hipStreamDefault, 0, runtime::kept_compute_units(unit_count(), words, mask));
}

hipError_t get_units(hipStream_t stream, std::uint32_t words, std::uint32_t* mask) {
  return runtime::give_compute_units(compute_units_of(stream), unit_count(), words, mask);
}

bool constant_handle(hipStream_t stream) {
  return !stream || stream == kLegacyStream || stream == hipStreamPerThread;
}

hipError_t destroy(hipStream_t stream) {
  if (constant_handle(stream)) return hipErrorInvalidHandle;
  if (!remove_stream(stream)) return kUnknownStream;
  if (graph::Library* const library = capturing()) library->forget_stream(short_reference(stream).id);
  return check(cu().StreamDestroy(stream));
}

// Wraps the calls on a stream.
template <typename Body>
hipError_t with_stream(hipStream_t stream, Body&& body) {
  return api([&]() -> hipError_t { return is_stream(stream) ? body() : kUnknownStream; });
}

// The same for calls that no graph can hold.
template <typename Body>
hipError_t with_free_stream(hipStream_t stream, Body&& body) {
  return with_stream(stream, [&]() -> hipError_t {
    const hipError_t refused = refuse_captured(stream);
    return refused != hipSuccess ? refused : body();
  });
}

hipError_t wait_event(hipStream_t stream, hipEvent_t event, unsigned flags) {
  if (flags != 0) return hipErrorInvalidValue;
  if (!event) return hipErrorInvalidHandle;
  if (graph::Library* const library = capturing()) [[unlikely]] {
    const auto verdict = library->capture_wait(reference(stream), reference(event));
    if (verdict) return *verdict;
  }
  return check(cu().StreamWaitEvent(stream, event, 0));
}

hipError_t launch_host_function(hipStream_t stream, hipHostFn_t function, void* data) {
  if (!function) return hipErrorInvalidValue;
  if (graph::Library* const library = capturing()) [[unlikely]] {
    const auto verdict = capture(*library, stream, graph::HostWork{function, data}, Wait::kNo);
    if (verdict) return *verdict;
  }
  return check(cu().LaunchHostFunc(stream, function, data));
}

// What HIP's callback needs when the driver calls its own.
struct Callback {
  hipStreamCallback_t function;
  void* data;
};

void call_back(hipStream_t stream, driver::Result result, void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(stream, check(result), callback->data);
}

hipError_t add_callback(hipStream_t stream, hipStreamCallback_t function, void* data, unsigned flags) {
  if (!function || flags != 0) return hipErrorInvalidValue;
  auto callback = std::make_unique<Callback>(Callback{function, data});
  const driver::Result result = cu().StreamAddCallback(stream, call_back, callback.get(), 0);
  if (result == driver::Result::SUCCESS) static_cast<void>(callback.release());  // call_back() deletes it
  return check(result);
}

template <typename Word>
hipError_t check_word(void* pointer) {
  return pointer && reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Word) == 0 ? hipSuccess
                                                                                  : hipErrorInvalidValue;
}

template <typename Word>
hipError_t wait_value(driver::Result (*wait)(hipStream_t, void*, Word, unsigned), hipStream_t stream,
                      void* pointer, Word wanted, unsigned condition, Word mask) {
  if (const hipError_t status = check_word<Word>(pointer)) return status;
  std::uint64_t value = wanted;
  if (const hipError_t status = mask_wait_value(value, condition, mask, Word(-1))) return status;
  return check(wait(stream, pointer, static_cast<Word>(value), condition));
}

template <typename Word>
hipError_t write_value(driver::Result (*write)(hipStream_t, void*, Word, unsigned), hipStream_t stream,
                       void* pointer, Word value) {
  if (const hipError_t status = check_word<Word>(pointer)) return status;
  return check(write(stream, pointer, value, 0));
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

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

// The multiprocessors are not partitioned: a mask is checked and kept, and all are used.
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t words, const uint32_t* mask) {
  return api([&] { return create_with_units(stream, words, mask); });
}

hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t words, uint32_t* mask) {
  return with_stream(stream, [&] { return get_units(stream, words, mask); });
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&] { return check(cu().CtxGetStreamPriorityRange(least, greatest)); });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return api([&] { return destroy(stream); });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return with_free_stream(stream, [&] { return check(cu().StreamQuery(stream)); });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return with_free_stream(stream, [&] { return check(cu().StreamSynchronize(stream)); });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return with_stream(stream, [&] { return wait_event(stream, event, flags); });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return with_stream(
      stream, [&] { return flags ? check(cu().StreamGetFlags(stream, flags)) : hipErrorInvalidValue; });
}

hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return with_stream(stream, [&] {
    return priority ? check(cu().StreamGetPriority(stream, priority)) : hipErrorInvalidValue;
  });
}

int hipGetStreamDeviceId(hipStream_t stream) {
  if (constant_handle(stream)) return thread_state().device;
  driver::Context context = nullptr;
  const hipError_t status = with_stream(stream, [&] { return check(cu().StreamGetCtx(stream, &context)); });
  return status == hipSuccess ? Runtime::get().ordinal_of(context) : -1;
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data,
                                unsigned flags) {
  return with_free_stream(stream, [&] { return add_callback(stream, callback, data, flags); });
}

TF_CUDA_EXPORT hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return with_stream(stream, [&] { return launch_host_function(stream, function, data); });
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned flags,
                                uint32_t mask) {
  return with_free_stream(
      stream, [&] { return wait_value(cu().StreamWaitValue32, stream, pointer, value, flags, mask); });
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned flags,
                                uint64_t mask) {
  return with_free_stream(
      stream, [&] { return wait_value(cu().StreamWaitValue64, stream, pointer, value, flags, mask); });
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned) {
  return with_free_stream(stream,
                          [&] { return write_value(cu().StreamWriteValue32, stream, pointer, value); });
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned) {
  return with_free_stream(stream,
                          [&] { return write_value(cu().StreamWriteValue64, stream, pointer, value); });
}

}  // extern "C"
