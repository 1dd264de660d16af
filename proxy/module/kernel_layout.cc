// SPDX-License-Identifier: Apache-2.0
// Packs kernel arguments.
#include "proxy/module/kernel_layout.h"

#include <algorithm>
#include <cstring>

namespace tf::proxy {
namespace {

constexpr std::size_t kExtraEntriesMax = 16;

// Nearly all arguments are as large as a pointer or an int, which can be copied without a call.
void copy_argument(std::byte* target, const void* source, std::size_t bytes) {
  if (bytes == 8) {
    std::memcpy(target, source, 8);
  } else if (bytes == 4) {
    std::memcpy(target, source, 4);
  } else {
    std::memcpy(target, source, bytes);
  }
}

}  // namespace

bool is_sane(const KernelLayout& layout) {
  std::uint64_t end = 0;
  for (const KernelArgument& argument : layout.arguments) {
    if (argument.offset_bytes < end) return false;
    end = std::uint64_t{argument.offset_bytes} + argument.size_bytes;
    if (end > kArgumentBytesMax) return false;
  }
  return layout.argument_bytes >= end && layout.argument_bytes <= kArgumentBytesMax;
}

std::byte* PackedArguments::resize(std::size_t bytes) {
  size_ = bytes;
  // Zeros in the gaps between arguments, so that none of our stack travels.
  if (bytes > small_.size()) {
    large_.assign(bytes, std::byte{0});
    return large_.data();
  }
  constexpr std::size_t kWide = 16;
  for (std::size_t at = 0; at < bytes; at += kWide) std::memset(&small_[at], 0, kWide);
  return small_.data();
}

hipError_t PackedArguments::pack(const KernelLayout& layout, void* const* arguments) {
  std::byte* target = resize(layout.argument_bytes);
  if (layout.arguments.empty()) return hipSuccess;
  if (arguments == nullptr) return hipErrorInvalidValue;
  for (const KernelArgument& argument : layout.arguments) {
    const void* const source = *arguments++;
    if (source == nullptr) return hipErrorInvalidValue;
    copy_argument(target + argument.offset_bytes, source, argument.size_bytes);
  }
  return hipSuccess;
}

hipError_t PackedArguments::pack_extra(const KernelLayout& layout, void* const* extra) {
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  bool ended = false;
  for (std::size_t i = 0; i < kExtraEntriesMax && !ended; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_END) {
      ended = true;
    } else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[i + 1];
    } else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1] != nullptr) {
      std::memcpy(&bytes, extra[i + 1], sizeof bytes);
    } else {
      return hipErrorInvalidValue;
    }
  }
  if (!ended || (buffer == nullptr && layout.argument_bytes != 0)) return hipErrorInvalidValue;
  std::byte* target = resize(layout.argument_bytes);
  // A caller may pad the end, and old callers omit the tail of the last argument.
  std::size_t used = std::min<std::size_t>(bytes, layout.argument_bytes);
  if (used != 0) std::memcpy(target, buffer, used);
  return hipSuccess;
}

hipError_t check_shape(const protocol::DeviceProperties& device, const KernelLayout& layout,
                       const LaunchShape& shape) {
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (shape.grid[axis] == 0 || shape.block[axis] == 0) return hipErrorInvalidConfiguration;
    auto most = static_cast<std::uint32_t>(device.max_threads_dim[static_cast<std::size_t>(axis)]);
    if (shape.block[axis] > most) return hipErrorInvalidConfiguration;
    if (std::uint64_t{shape.grid[axis]} * shape.block[axis] > UINT32_MAX) return hipErrorInvalidConfiguration;
    threads *= shape.block[axis];
  }
  if (threads > static_cast<std::uint64_t>(device.max_threads_per_block)) return hipErrorInvalidConfiguration;
  if (threads > layout.max_threads_per_block) return hipErrorLaunchFailure;
  if (shape.shared_bytes > device.shared_mem_per_block ||
      shape.shared_bytes + layout.static_shared_bytes > device.shared_mem_per_block)
    return hipErrorInvalidValue;
  return hipSuccess;
}

}  // namespace tf::proxy
