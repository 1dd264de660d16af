// SPDX-License-Identifier: Apache-2.0
// What the program asks of streams: creation, waiting, callbacks and memory operations in stream order.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/value_operations.h"

namespace tf::cpu {
namespace {

constexpr int kLeastPriority = 1;
constexpr int kGreatestPriority = -1;
template <typename Word>
hipError_t submit_wait_value(Stream& stream, Word* word, Word wanted, unsigned condition, Word mask) {
  if (!Runtime::get().memory.find(word)) return hipErrorInvalidValue;
  const auto task = [=, &device = stream.device()] {
    wait_for_value<Word>(device, word, wanted, condition, mask);
    return hipSuccess;
  };
  stream.submit(task, Where::kThread);
  return hipSuccess;
}

template <typename Word>
hipError_t submit_write_value(Stream& stream, Word* word, Word value) {
  if (!Runtime::get().memory.find(word)) return hipErrorInvalidValue;
  const auto store = [=] { return cpu::write_value(word, value), hipSuccess; };
  const auto task = [store, &device = stream.device()] { return device.run(store); };
  stream.submit(task, Where::kAtOnce);
  return hipSuccess;
}

}  // namespace

hipError_t Backend::create_stream(hipStream_t& handle, unsigned flags, int priority,
                                  runtime::ComputeUnits units) {
  Device& device = current_device();
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  const auto stream = std::make_shared<cpu::Stream>(device, flags, priority, false, std::move(units));
  handle = Runtime::get().streams.add(stream);
  if (!handle) return hipErrorOutOfMemory;
  device.add(stream);
  return hipSuccess;
}

hipError_t Backend::destroy_stream(hipStream_t handle) {
  const auto stream = Runtime::get().streams.remove(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  stream->close();
  return hipSuccess;
}

hipError_t Backend::priority_range(int& least, int& greatest) {
  least = kLeastPriority;
  greatest = kGreatestPriority;
  return hipSuccess;
}

hipError_t Backend::stream_flags(const Stream& stream, unsigned& flags) {
  flags = stream->flags();
  return hipSuccess;
}

hipError_t Backend::stream_priority(const Stream& stream, int& priority) {
  priority = stream->priority();
  return hipSuccess;
}

hipError_t Backend::stream_id(const Stream& stream, unsigned long long& id) {
  id = stream->id();
  return hipSuccess;
}

runtime::ComputeUnits Backend::compute_units(const Stream& stream) { return stream->compute_units(); }

hipError_t Backend::query(const Stream& stream) {
  return stream->idle() ? stream->device().failure() : hipErrorNotReady;
}

hipError_t Backend::synchronize(const Stream& stream) {
  const hipError_t status = stream->synchronize();
  release_unused_memory(stream->device());
  return status;
}

hipError_t Backend::follow_null(const Stream& stream) {
  stream->follow_default();
  return hipSuccess;
}

hipError_t Backend::wait_event(const Stream& stream, const Event& event) {
  event->hold(*stream);
  return hipSuccess;
}

hipError_t Backend::add_callback(const Stream& stream, hipStream_t handle, hipStreamCallback_t callback,
                                 void* data) {
  cpu::Stream* const self = &*stream;  // alive while it runs its tasks
  const auto task = [=] {
    rest();
    callback(handle, self->device().failure(), data);
    return hipSuccess;
  };
  stream->submit(task, Where::kThread);
  return hipSuccess;
}

hipError_t Backend::call_host(const Stream& stream, hipHostFn_t function, void* data) {
  stream->submit([=] { return rest(), function(data), hipSuccess; }, Where::kThread);
  return hipSuccess;
}

hipError_t Backend::wait_value(const Stream& stream, std::uint32_t* word, std::uint32_t wanted,
                               unsigned condition, std::uint32_t mask) {
  return submit_wait_value(*stream, word, wanted, condition, mask);
}

hipError_t Backend::wait_value(const Stream& stream, std::uint64_t* word, std::uint64_t wanted,
                               unsigned condition, std::uint64_t mask) {
  return submit_wait_value(*stream, word, wanted, condition, mask);
}

hipError_t Backend::write_value(const Stream& stream, std::uint32_t* word, std::uint32_t value) {
  return submit_write_value(*stream, word, value);
}

hipError_t Backend::write_value(const Stream& stream, std::uint64_t* word, std::uint64_t value) {
  return submit_write_value(*stream, word, value);
}

}  // namespace tf::cpu
