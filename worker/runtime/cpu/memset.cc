// SPDX-License-Identifier: Apache-2.0
// Fills, in stream order.
#include "worker/runtime/cpu/memset.h"

#include <algorithm>
#include <cstring>

#include "transport/base/unwatched_payload.h"
#include "worker/runtime/cpu/backend.h"

namespace tf::cpu {
namespace {

// If the stream is idle the caller makes fills up to this size.
constexpr std::size_t kCallerFill_bytes = 16 << 10;

void fill_row(std::byte* row, const Fill& wish, std::size_t bytes) {
  const UnwatchedPayload payload;
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
  std::size_t bytes = 0;
  if (!reach_of(wish, bytes)) return false;
  if (reinterpret_cast<std::uintptr_t>(wish.target) % wish.element_bytes != 0) return false;
  // Only memory that the runtime knows can be filled; a plain host pointer is an error here as on a GPU.
  return Runtime::get().memory.holds(wish.target, bytes, thread_state().filled);
}

namespace {

// Nobody but devices uses the memory, so nobody can tell when the fill is made.
bool may_be_late(const Fill& wish) {
  const Runtime& runtime = Runtime::get();
  const auto memory = runtime.memory.find(wish.target);
  return memory && runtime.is_devices_own(*memory);
}

}  // namespace

hipError_t Backend::fill(const Fill& wish, const Stream& stream, Wait wait) {
  if (!fillable(wish)) return hipErrorInvalidValue;
  const bool is_small = wish.width * wish.height * wish.depth <= kCallerFill_bytes;
  const Where where = is_small ? Where::kAtOnce : wait == Wait::kYes ? Where::kCaller : Where::kThread;
  const auto task = [&device = stream->device(), wish] {
    return device.run([&wish] { return run_fill(wish); });
  };
  const std::uint64_t position = stream->submit(task, where);
  if (wait == Wait::kNo) return hipSuccess;
  wait_unless_late(*stream, position, Runtime::get().late_work, [&wish] { return may_be_late(wish); });
  return stream->device().failure();
}

}  // namespace tf::cpu
