// SPDX-License-Identifier: Apache-2.0
// Linear copies, and how every copy is executed.
#include "worker/runtime/cpu/copy.h"

#include <cstring>
#include <memory>
#include <utility>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

// Asynchronous copies up to this size are made by the caller when the stream is idle: the stream's thread, if
// it sleeps, would be awake only when they could be done.
constexpr std::size_t kCallerCopy_bytes = 1 << 20;
// Pageable sources up to this size are taken along with the command; larger ones make the call wait.
constexpr std::size_t kSnapshot_bytes = 64 << 10;

void copy_slice(const Box& box, std::byte* target, const std::byte* source) {
  if (box.target_pitch == box.width && box.source_pitch == box.width) {
    std::memmove(target, source, box.width * box.height);
    return;
  }
  for (std::size_t row = 0; row < box.height; ++row)
    std::memmove(target + row * box.target_pitch, source + row * box.source_pitch, box.width);
}

// From the first byte to the last, gaps included. False when that is no number.
bool reach(const Box& box, std::size_t pitch, std::size_t slice, std::size_t& bytes) {
  std::size_t rows = 0;
  std::size_t slices = 0;
  return !__builtin_mul_overflow(pitch, box.height - 1, &rows) &&
         !__builtin_mul_overflow(slice, box.depth - 1, &slices) &&
         !__builtin_add_overflow(rows, slices, &bytes) && !__builtin_add_overflow(bytes, box.width, &bytes);
}

bool pageable(const void* pointer) { return !Runtime::get().memory.find(pointer); }

// The source may change as soon as we return, so its bytes travel with the command, packed.
hipError_t submit_snapshot(const Box& box, Stream& stream) {
  std::unique_ptr<std::byte[]> bytes(new (std::nothrow) std::byte[box.bytes()]);
  if (!bytes) return hipErrorOutOfMemory;
  Box packed = box;
  packed.target = bytes.get();
  packed.target_pitch = box.width;
  packed.target_slice = box.width * box.height;
  for (std::size_t slice = 0; slice < box.depth; ++slice)
    copy_slice(packed, packed.target + slice * packed.target_slice, box.source + slice * box.source_slice);
  Box later = box;
  later.source = bytes.get();
  later.source_pitch = packed.target_pitch;
  later.source_slice = packed.target_slice;
  auto task = [&device = stream.device(), later, kept = std::move(bytes)] {
    return device.run([&later] { return run_copy(later); });
  };
  stream.submit(std::move(task), Where::kThread);
  return hipSuccess;
}

// Takes the copy into a capture, if the stream is being captured. One that is waited for cannot be.
graph::Library::Verdict capture(graph::Library& graphs, const Box& box, const Stream& stream, Wait wait) {
  if (wait == Wait::kYes) return graphs.refuse(reference(stream));
  graph::CopyWork work;
  work.target = {box.target, box.target_pitch, box.target_slice};
  work.source = {const_cast<std::byte*>(box.source), box.source_pitch, box.source_slice};
  work.width = box.width;
  work.height = box.height;
  work.depth = box.depth;
  work.kind = box.kind;
  if (box.height > 1 || box.depth > 1) work.type = hipGraphNodeTypeMemcpy;
  return graphs.capture(reference(stream), work);
}

}  // namespace

bool is_pageable(const Box& box) { return pageable(box.target) || pageable(box.source); }

hipError_t run_copy(const Box& box) {
  const double cost = Runtime::get().settings().copy_ns_per_byte;
  const std::uint64_t start = cost > 0.0 ? now_ns() : 0;
  for (std::size_t slice = 0; slice < box.depth; ++slice)
    copy_slice(box, box.target + slice * box.target_slice, box.source + slice * box.source_slice);
  if (cost > 0.0) spin_until(start + static_cast<std::uint64_t>(cost * static_cast<double>(box.bytes())));
  return hipSuccess;
}

bool within_memory(const Box& box) {
  std::size_t target_bytes = 0;
  std::size_t source_bytes = 0;
  if (!reach(box, box.target_pitch, box.target_slice, target_bytes)) return false;
  if (!reach(box, box.source_pitch, box.source_slice, source_bytes)) return false;
  const MemoryMap& memory = Runtime::get().memory;
  return memory.covers(box.target, target_bytes) && memory.covers(box.source, source_bytes);
}

bool valid_kind(hipMemcpyKind kind) { return kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault; }

hipError_t submit_copy(const Box& box, Stream& stream, Wait wait) {
  if (!within_memory(box)) return hipErrorInvalidValue;
  if (graph::Library* graphs = capturing()) {
    if (const auto verdict = capture(*graphs, box, stream, wait)) return *verdict;
  }
  // As on a GPU: pageable memory cannot be used after the call returned.
  if (wait == Wait::kNo && pageable(box.target)) wait = Wait::kYes;
  if (wait == Wait::kNo && pageable(box.source)) {
    if (box.bytes() <= kSnapshot_bytes && !stream.idle()) return submit_snapshot(box, stream);
    wait = Wait::kYes;
  }
  const bool here = wait == Wait::kYes || box.bytes() <= kCallerCopy_bytes;
  const auto task = [&device = stream.device(), box] { return device.run([&box] { return run_copy(box); }); };
  const std::uint64_t position = stream.submit(task, here ? Where::kCaller : Where::kThread);
  if (wait == Wait::kNo) return hipSuccess;
  stream.wait(position);
  return stream.device().failure();
}

hipError_t copy_linear(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                       hipStream_t stream_handle, Wait wait) {
  if (!valid_kind(kind)) return hipErrorInvalidMemcpyDirection;
  std::shared_ptr<Stream> stream;
  if (const hipError_t status = find_stream(stream_handle, stream)) return status;
  if (bytes == 0) return hipSuccess;
  if (!target || !source) return hipErrorInvalidValue;
  if (target == source) return hipSuccess;
  Box box;
  box.target = static_cast<std::byte*>(target);
  box.source = static_cast<const std::byte*>(source);
  box.width = bytes;
  box.kind = kind;
  box.target_pitch = box.source_pitch = bytes;
  return submit_copy(box, *stream, wait);
}

namespace {

hipError_t copy_between_devices(void* target, int target_device, const void* source, int source_device,
                                std::size_t bytes, hipStream_t stream, Wait wait) {
  const Runtime& runtime = Runtime::get();
  if (!runtime.valid_device(target_device) || !runtime.valid_device(source_device))
    return hipErrorInvalidDevice;
  return copy_linear(target, source, bytes, hipMemcpyDeviceToDevice, stream, wait);
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

#include "worker/runtime/common/copy_functions.inc"

}  // extern "C"
