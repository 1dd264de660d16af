// SPDX-License-Identifier: Apache-2.0
// Fills: turns every form of the API into a Fill. Even synchronous calls are in stream order.
#include <cstdint>

#include "worker/runtime/common/api.h"
#include "worker/runtime/common/capture.h"
#include "worker/runtime/common/fill.h"

namespace tf::runtime {
namespace {

// If the stream is being captured, adds the fill to the capture: one node for each slice.
graph::Library::Verdict capture_slices(graph::Library& library, const Fill& wish,
                                       const Backend::Stream& stream, Wait wait) {
  graph::Library::Verdict verdict;
  for (std::size_t slice = 0; slice < wish.depth; ++slice) {
    graph::FillWork work;
    work.target = wish.target + slice * wish.slice;
    work.value = wish.value;
    work.element_bytes = wish.element_bytes;
    work.width = wish.width;
    work.height = wish.height;
    work.pitch = wish.pitch;
    verdict = capture(library, stream, work, wait);
    if (!verdict || *verdict != hipSuccess) break;
  }
  return verdict;
}

hipError_t fill(const Fill& wish, hipStream_t handle, Wait wait) {
  Backend::Stream stream{};
  if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
  if (wish.width == 0 || wish.height == 0 || wish.depth == 0) return hipSuccess;
  std::size_t reach_bytes = 0;
  if (!wish.target || wish.width > wish.pitch || !reach_of(wish, reach_bytes)) return hipErrorInvalidValue;
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = capture_slices(*library, wish, stream, wait)) return *verdict;
  return Backend::fill(wish, stream, wait);
}

template <typename Value>
hipError_t fill_linear(void* target, Value value, std::size_t count, hipStream_t stream, Wait wait) {
  Fill wish;
  wish.target = static_cast<std::byte*>(target);
  wish.value = value;
  wish.element_bytes = sizeof value;
  if (__builtin_mul_overflow(count, sizeof value, &wish.width)) return hipErrorInvalidValue;
  wish.pitch = wish.width;
  return fill(wish, stream, wait);
}

hipError_t fill_bytes(void* target, int value, std::size_t bytes, hipStream_t stream, Wait wait) {
  Fill wish;
  wish.target = static_cast<std::byte*>(target);
  wish.value = static_cast<std::uint32_t>(value);
  wish.width = wish.pitch = bytes;
  return fill(wish, stream, wait);
}

hipError_t fill_rows(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     hipStream_t stream, Wait wait) {
  Fill wish;
  wish.target = static_cast<std::byte*>(target);
  wish.value = static_cast<std::uint32_t>(value);
  wish.width = width;
  wish.height = height;
  wish.pitch = pitch;
  return fill(wish, stream, wait);
}

// Rows of elements.
template <typename Value>
hipError_t fill_elements(void* target, std::size_t pitch, Value value, std::size_t width, std::size_t height,
                         hipStream_t stream, Wait wait) {
  Fill wish;
  wish.target = static_cast<std::byte*>(target);
  wish.value = value;
  wish.element_bytes = sizeof value;
  wish.height = height;
  wish.pitch = pitch;
  if (__builtin_mul_overflow(width, sizeof value, &wish.width)) return hipErrorInvalidValue;
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(target) % sizeof value == 0 && pitch % sizeof value == 0;
  if (!aligned && width != 0 && height != 0) return hipErrorInvalidValue;
  return fill(wish, stream, wait);
}

hipError_t fill_3d(const hipPitchedPtr& target, int value, const hipExtent& extent, hipStream_t stream,
                   Wait wait) {
  Fill wish;
  wish.target = static_cast<std::byte*>(target.ptr);
  wish.value = static_cast<std::uint32_t>(value);
  wish.width = extent.width;
  wish.height = extent.height;
  wish.depth = extent.depth;
  wish.pitch = target.pitch;
  if (__builtin_mul_overflow(target.pitch, target.ysize, &wish.slice)) return hipErrorInvalidValue;
  if (extent.depth > 1 && target.ysize < extent.height) return hipErrorInvalidValue;  // slices would overlap
  if (extent.depth > 1 && target.ysize == extent.height) {  // adjacent slices are one
    if (__builtin_mul_overflow(extent.height, extent.depth, &wish.height)) return hipErrorInvalidValue;
    wish.depth = 1;
  }
  return fill(wish, stream, wait);
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipMemset(void* target, int value, size_t bytes) {
  return api([&] { return fill_bytes(target, value, bytes, nullptr, Wait::kYes); });
}

hipError_t hipMemsetAsync(void* target, int value, size_t bytes, hipStream_t stream) {
  return api([&] { return fill_bytes(target, value, bytes, stream, Wait::kNo); });
}

hipError_t hipMemsetD8(hipDeviceptr_t target, unsigned char value, size_t count) {
  return api([&] { return fill_linear(target, value, count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD8Async(hipDeviceptr_t target, unsigned char value, size_t count, hipStream_t stream) {
  return api([&] { return fill_linear(target, value, count, stream, Wait::kNo); });
}

hipError_t hipMemsetD16(hipDeviceptr_t target, unsigned short value, size_t count) {
  return api([&] { return fill_linear(target, value, count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD16Async(hipDeviceptr_t target, unsigned short value, size_t count, hipStream_t stream) {
  return api([&] { return fill_linear(target, value, count, stream, Wait::kNo); });
}

hipError_t hipMemsetD32(hipDeviceptr_t target, int value, size_t count) {
  return api([&] { return fill_linear(target, static_cast<unsigned>(value), count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD32Async(hipDeviceptr_t target, int value, size_t count, hipStream_t stream) {
  return api([&] { return fill_linear(target, static_cast<unsigned>(value), count, stream, Wait::kNo); });
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

TF_EXPORT hipError_t hipMemsetD2D8(hipDeviceptr_t target, size_t pitch, unsigned char value, size_t width,
                                   size_t height) {
  return api([&] { return fill_elements(target, pitch, value, width, height, nullptr, Wait::kYes); });
}

TF_EXPORT hipError_t hipMemsetD2D8Async(hipDeviceptr_t target, size_t pitch, unsigned char value,
                                        size_t width, size_t height, hipStream_t stream) {
  return api([&] { return fill_elements(target, pitch, value, width, height, stream, Wait::kNo); });
}

TF_EXPORT hipError_t hipMemsetD2D16(hipDeviceptr_t target, size_t pitch, unsigned short value, size_t width,
                                    size_t height) {
  return api([&] { return fill_elements(target, pitch, value, width, height, nullptr, Wait::kYes); });
}

TF_EXPORT hipError_t hipMemsetD2D16Async(hipDeviceptr_t target, size_t pitch, unsigned short value,
                                         size_t width, size_t height, hipStream_t stream) {
  return api([&] { return fill_elements(target, pitch, value, width, height, stream, Wait::kNo); });
}

TF_EXPORT hipError_t hipMemsetD2D32(hipDeviceptr_t target, size_t pitch, unsigned int value, size_t width,
                                    size_t height) {
  return api([&] { return fill_elements(target, pitch, value, width, height, nullptr, Wait::kYes); });
}

TF_EXPORT hipError_t hipMemsetD2D32Async(hipDeviceptr_t target, size_t pitch, unsigned int value,
                                         size_t width, size_t height, hipStream_t stream) {
  return api([&] { return fill_elements(target, pitch, value, width, height, stream, Wait::kNo); });
}

}  // extern "C"
