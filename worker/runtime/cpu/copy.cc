// SPDX-License-Identifier: Apache-2.0
// Copies between any two places: checked at the call, run in stream order.
#include "worker/runtime/cpu/copy.h"

#include <cstring>
#include <memory>
#include <utility>

#include "hipcore/memory/copy_kind.h"
#include "transport/base/unwatched_payload.h"
#include "worker/runtime/cpu/backend.h"

namespace tf::cpu {
namespace {

// If the stream is idle the caller makes asynchronous copies up to this size: a sleeping stream thread would
// only be awake when they could already be done.
constexpr std::size_t kCallerCopy_bytes = 1 << 20;
// Pageable sources up to this size are copied into the command; larger ones make the call wait.
constexpr std::size_t kSnapshot_bytes = 64 << 10;

void copy_slice(const graph::CopyWork& copy, std::byte* target, const std::byte* source) {
  const UnwatchedPayload payload;
  if (copy.target.pitch == copy.width && copy.source.pitch == copy.width) {
    std::memmove(target, source, copy.width * copy.height);
    return;
  }
  for (std::size_t row = 0; row < copy.height; ++row)
    std::memmove(target + row * copy.target.pitch, source + row * copy.source.pitch, copy.width);
}

// The bytes from first to last, gaps included. False if that overflows.
bool reach(const graph::CopyWork& copy, std::size_t pitch, std::size_t slice, std::size_t& bytes) {
  std::size_t rows = 0;
  std::size_t slices = 0;
  return !__builtin_mul_overflow(pitch, copy.height - 1, &rows) &&
         !__builtin_mul_overflow(slice, copy.depth - 1, &slices) &&
         !__builtin_add_overflow(rows, slices, &bytes) && !__builtin_add_overflow(bytes, copy.width, &bytes);
}

bool pageable(const void* pointer) { return !Runtime::get().memory.find(pointer); }

// Memory of hipHostMalloc or hipHostRegister.
bool is_pinned(const Allocation& known) {
  return known.kind == MemoryKind::kHost || known.kind == MemoryKind::kRegistered;
}

// What an asynchronous form does. As on a GPU, pageable memory cannot be used after the call has returned.
// From host to host the call makes the copy, after its stream: the rule of CUDA and AMD.
enum class Later { kPosted, kSnapshot, kWaits };
Later later_of(const graph::CopyWork& copy, Stream& stream) {
  const MemoryMap& memory = Runtime::get().memory;
  const auto target = memory.find(copy.target.memory());
  if (!target) return Later::kWaits;
  const auto source = memory.find(copy.source.memory());
  if (!source) return copy.bytes() <= kSnapshot_bytes && !stream.idle() ? Later::kSnapshot : Later::kWaits;
  return is_pinned(*target) && is_pinned(*source) ? Later::kWaits : Later::kPosted;
}

// A synchronous copy within one device, which neither the host nor another process can see: AMD's rule. Its
// order with other devices is not that of a stream, so between those the call waits.
bool may_be_late(const graph::CopyWork& copy, const Device& device) {
  const Runtime& runtime = Runtime::get();
  const auto target = runtime.memory.find(copy.target.memory());
  const auto source = runtime.memory.find(copy.source.memory());
  if (!target || !runtime.is_devices_own(*target) || target->device != device.ordinal()) return false;
  if (!source || !runtime.is_devices_own(*source) || source->device != device.ordinal()) return false;
  return !(runtime.advice.is_synchronous(target->base) && runtime.advice.is_synchronous(source->base));
}

// The source may change as soon as we return, so its bytes travel with the command, packed.
hipError_t submit_snapshot(const graph::CopyWork& copy, Stream& stream) {
  std::unique_ptr<std::byte[]> bytes(new (std::nothrow) std::byte[copy.bytes()]);
  if (!bytes) return hipErrorOutOfMemory;
  graph::CopyWork packed = copy;
  packed.target.address = graph::address_of(bytes.get());
  packed.target.pitch = copy.width;
  packed.target.slice = copy.width * copy.height;
  for (std::size_t slice = 0; slice < copy.depth; ++slice)
    copy_slice(packed, packed.target.memory() + slice * packed.target.slice,
               copy.source.memory() + slice * copy.source.slice);
  graph::CopyWork later = copy;
  later.source.address = graph::address_of(bytes.get());
  later.source.pitch = packed.target.pitch;
  later.source.slice = packed.target.slice;
  auto task = [&device = stream.device(), later, kept = std::move(bytes)] {
    return device.run([&later] { return run_copy(later); });
  };
  stream.submit(std::move(task), Where::kThread);
  return hipSuccess;
}

}  // namespace

bool is_pageable(const graph::CopyWork& copy) {
  return pageable(copy.target.memory()) || pageable(copy.source.memory());
}

hipError_t run_copy(const graph::CopyWork& copy) {
  const double cost = Runtime::get().settings().copy_ns_per_byte;
  const std::uint64_t start = cost > 0.0 ? now_ns() : 0;
  for (std::size_t slice = 0; slice < copy.depth; ++slice)
    copy_slice(copy, copy.target.memory() + slice * copy.target.slice,
               copy.source.memory() + slice * copy.source.slice);
  if (cost > 0.0) spin_until(start + static_cast<std::uint64_t>(cost * static_cast<double>(copy.bytes())));
  return hipSuccess;
}

bool kind_fits(const graph::CopyWork& copy) {
  const auto is_known = [](const void* memory) { return !pageable(memory); };
  return hipdata::kind_fits<const void*>(copy.target.memory(), copy.source.memory(), copy.kind, is_known);
}

bool within_memory(const graph::CopyWork& copy) {
  std::size_t target_bytes = 0;
  std::size_t source_bytes = 0;
  if (!reach(copy, copy.target.pitch, copy.target.slice, target_bytes)) return false;
  if (!reach(copy, copy.source.pitch, copy.source.slice, source_bytes)) return false;
  const MemoryMap& memory = Runtime::get().memory;
  return memory.covers(copy.target.memory(), target_bytes) &&
         memory.covers(copy.source.memory(), source_bytes);
}

namespace {

// hipErrorInvalidValue when the known memory at either end is smaller than the copy reaches.
hipError_t submit_copy(const graph::CopyWork& copy, Stream& stream, Wait wait) {
  if (!within_memory(copy)) return hipErrorInvalidValue;
  if (!copy.is_line() && !kind_fits(copy)) return hipErrorInvalidValue;
  if (wait == Wait::kNo) {
    const Later later = later_of(copy, stream);
    if (later == Later::kSnapshot) return submit_snapshot(copy, stream);
    if (later == Later::kWaits) wait = Wait::kYes;
  }
  const bool here = wait == Wait::kYes || copy.bytes() <= kCallerCopy_bytes;
  const auto task = [&device = stream.device(), copy] {
    return device.run([&copy] { return run_copy(copy); });
  };
  const std::uint64_t position = stream.submit(task, here ? Where::kCaller : Where::kThread);
  if (wait == Wait::kNo) return hipSuccess;
  wait_unless_late(stream, position, Runtime::get().late_work,
                   [&] { return may_be_late(copy, stream.device()); });
  return stream.device().failure();
}

}  // namespace

hipError_t Backend::copy(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                         const Stream& stream, Wait wait) {
  const graph::Box line = graph::line(graph::address_of(target), graph::address_of(source), bytes);
  return submit_copy(graph::copy_work(line, kind), *stream, wait);
}

// All memory is one here.
hipError_t Backend::copy_between_devices(void* target, int, const void* source, int, std::size_t bytes,
                                         const Stream& stream, Wait wait) {
  return copy(target, source, bytes, hipMemcpyDeviceToDevice, stream, wait);
}

hipError_t Backend::copy_rows(const graph::CopyWork& box, const Stream& stream, Wait wait) {
  return submit_copy(box, *stream, wait);
}

hipError_t Backend::copy_box(const graph::CopyWork& box, const Stream& stream, Wait wait) {
  return submit_copy(box, *stream, wait);
}

}  // namespace tf::cpu
