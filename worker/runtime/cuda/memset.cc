// SPDX-License-Identifier: Apache-2.0
// Fills. They are in stream order also where the call is not an asynchronous one.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/copy.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {
namespace {

// `count` elements by one of the driver's pairs of functions.
template <typename Value>
hipError_t fill(driver::Result (*now)(void*, Value, std::size_t),
                driver::Result (*later)(void*, Value, std::size_t, hipStream_t), void* target, Value value,
                std::size_t count, hipStream_t stream, Wait wait) {
  if (!is_stream(stream)) return kUnknownStream;
  if (count == 0) return hipSuccess;
  if (!target) return hipErrorInvalidValue;
  if (graph::Library* const library = capturing()) [[unlikely]] {
    graph::FillWork work;
    if (__builtin_mul_overflow(count, sizeof value, &work.width)) return hipErrorInvalidValue;
    work.target = static_cast<std::byte*>(target);
    work.value = value;
    work.element_bytes = sizeof value;
    work.pitch = work.width;
    if (const auto verdict = capture(*library, stream, work, wait)) return *verdict;
  }
  return check(wait == Wait::kYes ? settle(now(target, value, count)) : later(target, value, count, stream));
}

hipError_t fill_bytes(void* target, unsigned char value, std::size_t count, hipStream_t stream, Wait wait) {
  return fill(cu().MemsetD8, cu().MemsetD8Async, target, value, count, stream, wait);
}

hipError_t fill_shorts(void* target, unsigned short value, std::size_t count, hipStream_t stream, Wait wait) {
  return fill(cu().MemsetD16, cu().MemsetD16Async, target, value, count, stream, wait);
}

// One word: what the stream itself writes is there sooner than what a kernel writes, which a fill of the
// driver's is. A capture wants the fill: it becomes a node of that kind.
bool write_word(void* target, unsigned value, hipStream_t stream) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(target) % sizeof value == 0;
  if (!target || !aligned || !is_stream(stream) || capturing()) return false;
  return cu().StreamWriteValue32(stream, target, value, 0) == driver::Result::SUCCESS;
}

hipError_t fill_words(void* target, unsigned value, std::size_t count, hipStream_t stream, Wait wait) {
  if (count == 1 && wait == Wait::kNo && write_word(target, value, stream)) return hipSuccess;
  return fill(cu().MemsetD32, cu().MemsetD32Async, target, value, count, stream, wait);
}

// One node for each slice that does not follow the one before without a gap.
graph::Library::Verdict capture_box(graph::Library& library, const hipPitchedPtr& target, unsigned char byte,
                                    std::size_t width, const FillPlan& plan, hipStream_t stream, Wait wait) {
  graph::Library::Verdict verdict;
  for (std::size_t slice = 0; slice < plan.count; ++slice) {
    graph::FillWork work;
    work.target = static_cast<std::byte*>(target.ptr) + slice * plan.slice;
    work.value = byte;
    work.width = width;
    work.height = plan.rows;
    work.pitch = target.pitch;
    verdict = capture(library, stream, work, wait);
    if (!verdict || *verdict != hipSuccess) break;
  }
  return verdict;
}

hipError_t fill_3d(const hipPitchedPtr& target, int value, const hipExtent& extent, hipStream_t stream,
                   Wait wait) {
  if (!is_stream(stream)) return kUnknownStream;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return hipSuccess;
  FillPlan plan;
  if (const hipError_t status = plan_fill(plan, target, extent)) return status;
  const auto byte = static_cast<unsigned char>(value);
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = capture_box(*library, target, byte, extent.width, plan, stream, wait))
      return *verdict;
  driver::Result result = driver::Result::SUCCESS;
  for (std::size_t slice = 0; slice < plan.count && result == driver::Result::SUCCESS; ++slice) {
    void* const start = static_cast<std::byte*>(target.ptr) + slice * plan.slice;
    result = wait == Wait::kYes
                 ? cu().MemsetD2D8(start, target.pitch, byte, extent.width, plan.rows)
                 : cu().MemsetD2D8Async(start, target.pitch, byte, extent.width, plan.rows, stream);
  }
  return check(wait == Wait::kYes ? settle(result) : result);
}

hipError_t fill_rows(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     hipStream_t stream, Wait wait) {
  return fill_3d(make_hipPitchedPtr(target, pitch, width, height), value, make_hipExtent(width, height, 1),
                 stream, wait);
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipMemset(void* target, int value, size_t bytes) {
  return api(
      [&] { return fill_bytes(target, static_cast<unsigned char>(value), bytes, nullptr, Wait::kYes); });
}

hipError_t hipMemsetAsync(void* target, int value, size_t bytes, hipStream_t stream) {
  return api([&] { return fill_bytes(target, static_cast<unsigned char>(value), bytes, stream, Wait::kNo); });
}

hipError_t hipMemsetD8(hipDeviceptr_t target, unsigned char value, size_t count) {
  return api([&] { return fill_bytes(target, value, count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD8Async(hipDeviceptr_t target, unsigned char value, size_t count, hipStream_t stream) {
  return api([&] { return fill_bytes(target, value, count, stream, Wait::kNo); });
}

hipError_t hipMemsetD16(hipDeviceptr_t target, unsigned short value, size_t count) {
  return api([&] { return fill_shorts(target, value, count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD16Async(hipDeviceptr_t target, unsigned short value, size_t count, hipStream_t stream) {
  return api([&] { return fill_shorts(target, value, count, stream, Wait::kNo); });
}

hipError_t hipMemsetD32(hipDeviceptr_t target, int value, size_t count) {
  return api([&] { return fill_words(target, static_cast<unsigned>(value), count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD32Async(hipDeviceptr_t target, int value, size_t count, hipStream_t stream) {
  return api([&] { return fill_words(target, static_cast<unsigned>(value), count, stream, Wait::kNo); });
}

hipError_t hipMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return api([&] { return fill_rows(target, pitch, value, width, height, nullptr, Wait::kYes); });
}

hipError_t hipMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream) {
  return api([&] { return fill_rows(target, pitch, value, width, height, stream, Wait::kNo); });
}

hipError_t hipMemset3D(hipPitchedPtr target, int value, hipExtent extent) {
  return api([&] { return fill_3d(target, value, extent, nullptr, Wait::kYes); });
}

hipError_t hipMemset3DAsync(hipPitchedPtr target, int value, hipExtent extent, hipStream_t stream) {
  return api([&] { return fill_3d(target, value, extent, stream, Wait::kNo); });
}

}  // extern "C"
