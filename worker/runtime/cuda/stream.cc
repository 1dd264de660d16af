// SPDX-License-Identifier: Apache-2.0
// What the program asks of streams: creation, waiting, callbacks and memory operations in stream order.
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "worker/runtime/common/on_device.h"
#include "worker/runtime/cuda/backend.h"

namespace tf::cuda {
namespace {

// What a callback of HIP's needs where the driver calls one of its own.
struct Callback {
  hipStreamCallback_t function;
  void* data;
};

void call_back(hipStream_t stream, driver::Result result, void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(stream, check(result), callback->data);
}

// What is done at once is done when the program asks next: it was not the null stream that was busy.
void wait_briefly(driver::Stream stream) {
  constexpr std::chrono::microseconds kFillTime{100};
  const auto limit = std::chrono::steady_clock::now() + kFillTime;
  while (cu().StreamQuery(stream) == driver::Result::NOT_READY && std::chrono::steady_clock::now() < limit) {
  }
}

}  // namespace

hipError_t Backend::create_stream(hipStream_t& handle, unsigned flags, int priority,
                                  runtime::ComputeUnits units) {
  const hipError_t status = check(cu().StreamCreateWithPriority(&handle, flags, priority));
  if (status == hipSuccess) add_stream(handle, thread_state().device, std::move(units));
  return status;
}

hipError_t Backend::destroy_stream(hipStream_t handle) {
  return remove_stream(handle) ? check(cu().StreamDestroy(handle)) : kUnknownStream;
}

hipError_t Backend::priority_range(int& least, int& greatest) {
  return check(cu().CtxGetStreamPriorityRange(&least, &greatest));
}

hipError_t Backend::stream_flags(Stream stream, unsigned& flags) {
  return check(cu().StreamGetFlags(stream, &flags));
}

hipError_t Backend::stream_priority(Stream stream, int& priority) {
  return check(cu().StreamGetPriority(stream, &priority));
}

// Drivers before CUDA 12 cannot be asked: hipErrorNotSupported.
hipError_t Backend::stream_id(Stream stream, unsigned long long& id) {
  return check(cu().StreamGetId(stream, &id));
}

runtime::ComputeUnits Backend::compute_units(Stream stream) { return compute_units_of(stream); }

hipError_t Backend::query(Stream stream) { return check(cu().StreamQuery(stream)); }

hipError_t Backend::synchronize(Stream stream) { return check(cu().StreamSynchronize(stream)); }

// A fill is work of the device, in front of which the driver puts what the null stream has; an event is none.
hipError_t Backend::follow_null(Stream stream) {
  if (!stream) return hipSuccess;
  const auto follow = [stream]() -> hipError_t {
    if (cu().StreamQuery(nullptr) == driver::Result::SUCCESS) return hipSuccess;
    unsigned flags = 0;
    if (const hipError_t error = check(cu().StreamGetFlags(stream, &flags))) return error;
    if ((flags & hipStreamNonBlocking) != 0) return hipSuccess;  // not ordered with the null stream
    driver::Address byte = nullptr;
    if (const hipError_t error = Runtime::get().mark(thread_state().device, byte)) return error;
    const hipError_t filled = check(cu().MemsetD8Async(byte, 0, 1, stream));
    wait_briefly(stream);
    return filled;
  };
  const int device = device_of(stream);
  return device < 0 || device == thread_state().device ? follow() : runtime::on_device(device, follow);
}

hipError_t Backend::wait_event(Stream stream, Event event) {
  return check(cu().StreamWaitEvent(stream, event, 0));
}

hipError_t Backend::add_callback(Stream stream, hipStream_t, hipStreamCallback_t function, void* data) {
  auto callback = std::make_unique<Callback>(Callback{function, data});
  const driver::Result result = cu().StreamAddCallback(stream, call_back, callback.get(), 0);
  if (result == driver::Result::SUCCESS) static_cast<void>(callback.release());  // call_back() deletes it
  return check(result);
}

hipError_t Backend::call_host(Stream stream, hipHostFn_t function, void* data) {
  return check(cu().LaunchHostFunc(stream, function, data));
}

hipError_t Backend::wait_value(Stream stream, std::uint32_t* word, std::uint32_t wanted, unsigned condition,
                               std::uint32_t mask) {
  std::uint64_t value = wanted;
  if (const hipError_t status = mask_wait_value(value, condition, mask, UINT32_MAX)) return status;
  return check(cu().StreamWaitValue32(stream, word, static_cast<std::uint32_t>(value), condition));
}

hipError_t Backend::wait_value(Stream stream, std::uint64_t* word, std::uint64_t wanted, unsigned condition,
                               std::uint64_t mask) {
  if (const hipError_t status = mask_wait_value(wanted, condition, mask, UINT64_MAX)) return status;
  return check(cu().StreamWaitValue64(stream, word, wanted, condition));
}

hipError_t Backend::write_value(Stream stream, std::uint32_t* word, std::uint32_t value) {
  return check(cu().StreamWriteValue32(stream, word, value, 0));
}

hipError_t Backend::write_value(Stream stream, std::uint64_t* word, std::uint64_t value) {
  return check(cu().StreamWriteValue64(stream, word, value, 0));
}

}  // namespace tf::cuda
