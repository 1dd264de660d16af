// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/memset.h"

#include <algorithm>
#include <cstring>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

// Fills up to this size are made by the caller when the stream is idle.
constexpr std::size_t kCallerFill_bytes = 16 << 10;

void fill_row(std::byte* row, const Fill& wish, std::size_t bytes) {
  switch (wish.element_bytes) {
    case 2: {
      auto* const first = reinterpret_cast<std::uint16_t*>(row);
      std::fill(first, first + bytes / 2, static_cast<std::uint16_t>(wish.value));
      return;
    }
    case 4: {
      auto* const first = reinterpret_cast<std::uint32_t*>(row);
      std::fill(first, first + bytes / 4, wish.value);
      return;
    }
    default: std::memset(row, static_cast<int>(wish.value & 0xff), bytes);
  }
}

// Takes the fill into a capture, if the stream is being captured: one node for every slice that does not
// follow the one before without a gap.
graph::Library::Verdict capture(graph::Library& graphs, const Fill& wish, const Stream& stream, Wait wait) {
  if (wait == Wait::kYes) return graphs.refuse(reference(stream));
  const bool whole = wish.depth == 1 || wish.slice == wish.pitch * wish.height;
  graph::Library::Verdict verdict;
  for (std::size_t slice = 0; slice < (whole ? 1 : wish.depth); ++slice) {
    graph::FillWork work;
    work.target = wish.target + slice * wish.slice;
    work.value = wish.value;
    work.element_bytes = wish.element_bytes;
    work.width = wish.width;
    work.height = wish.height * (whole ? wish.depth : 1);
    work.pitch = wish.pitch;
    verdict = graphs.capture(reference(stream), work);
    if (!verdict || *verdict != hipSuccess) break;
  }
  return verdict;
}

}  // namespace

hipError_t run_fill(const Fill& wish) {
  for (std::size_t slice = 0; slice < wish.depth; ++slice) {
    std::byte* const start = wish.target + slice * wish.slice;
    const bool dense = wish.pitch == wish.width;
    if (dense) fill_row(start, wish, wish.width * wish.height);
    for (std::size_t row = 0; row < wish.height && !dense; ++row)
      fill_row(start + row * wish.pitch, wish, wish.width);
  }
  return hipSuccess;
}

bool fillable(const Fill& wish) {
  if (!wish.target || wish.width > wish.pitch) return false;
  std::size_t rows = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(wish.pitch, wish.height - 1, &rows)) return false;
  if (__builtin_mul_overflow(wish.slice, wish.depth - 1, &bytes)) return false;
  if (__builtin_add_overflow(bytes, rows, &bytes)) return false;
  if (__builtin_add_overflow(bytes, wish.width, &bytes)) return false;
  if (reinterpret_cast<std::uintptr_t>(wish.target) % wish.element_bytes != 0) return false;
  // Only memory that the runtime knows can be filled; a plain host pointer is an error here as on a GPU.
  return Runtime::get().memory.holds(wish.target, bytes, thread_state().filled);
}

hipError_t fill(const Fill& wish, hipStream_t stream_handle, Wait wait) {
  Found<Stream> stream;
  if (const hipError_t status = find_stream(stream_handle, stream)) return status;
  if (wish.width == 0 || wish.height == 0 || wish.depth == 0) return hipSuccess;
  if (!fillable(wish)) return hipErrorInvalidValue;
  if (graph::Library* graphs = capturing()) {
    if (const auto verdict = capture(*graphs, wish, *stream, wait)) return *verdict;
  }
  const bool is_small = wish.width * wish.height * wish.depth <= kCallerFill_bytes;
  const Where where = is_small ? Where::kAtOnce : wait == Wait::kYes ? Where::kCaller : Where::kThread;
  const auto task = [&device = stream->device(), wish] {
    return device.run([&wish] { return run_fill(wish); });
  };
  const std::uint64_t position = stream->submit(task, where);
  if (wait == Wait::kNo) return hipSuccess;
  stream->wait(position);
  return stream->device().failure();
}

hipError_t fill_linear(void* target, std::uint32_t value, std::uint32_t element_bytes, std::size_t count,
                       hipStream_t stream, Wait wait) {
  Fill wish;
  wish.target = static_cast<std::byte*>(target);
  wish.value = value;
  wish.element_bytes = element_bytes;
  if (__builtin_mul_overflow(count, std::size_t{element_bytes}, &wish.width)) return hipErrorInvalidValue;
  wish.pitch = wish.width;
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
  return fill(wish, stream, wait);
}

}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipMemset(void* target, int value, size_t bytes) {
  return api(
      [&] { return fill_linear(target, static_cast<std::uint32_t>(value), 1, bytes, nullptr, Wait::kYes); });
}

hipError_t hipMemsetAsync(void* target, int value, size_t bytes, hipStream_t stream) {
  return api(
      [&] { return fill_linear(target, static_cast<std::uint32_t>(value), 1, bytes, stream, Wait::kNo); });
}

hipError_t hipMemsetD8(hipDeviceptr_t target, unsigned char value, size_t count) {
  return api([&] { return fill_linear(target, value, 1, count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD8Async(hipDeviceptr_t target, unsigned char value, size_t count, hipStream_t stream) {
  return api([&] { return fill_linear(target, value, 1, count, stream, Wait::kNo); });
}

hipError_t hipMemsetD16(hipDeviceptr_t target, unsigned short value, size_t count) {
  return api([&] { return fill_linear(target, value, 2, count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD16Async(hipDeviceptr_t target, unsigned short value, size_t count, hipStream_t stream) {
  return api([&] { return fill_linear(target, value, 2, count, stream, Wait::kNo); });
}

hipError_t hipMemsetD32(hipDeviceptr_t target, int value, size_t count) {
  return api(
      [&] { return fill_linear(target, static_cast<std::uint32_t>(value), 4, count, nullptr, Wait::kYes); });
}

hipError_t hipMemsetD32Async(hipDeviceptr_t target, int value, size_t count, hipStream_t stream) {
  return api(
      [&] { return fill_linear(target, static_cast<std::uint32_t>(value), 4, count, stream, Wait::kNo); });
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
