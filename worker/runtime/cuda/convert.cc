// SPDX-License-Identifier: Apache-2.0
// Converts HIP's parameters to the driver's.
#include "worker/runtime/cuda/convert.h"

#include <algorithm>
#include <cstring>

#include "hipcore/abi/pool_limit.h"
#include "hipcore/graph/array_box.h"

namespace tf::cuda {
namespace {

template <typename Copy>
Copy between(void* target, const void* source) {
  Copy copy{};
  copy.source_type = driver::kMemoryUnified;
  copy.source_device = const_cast<void*>(source);
  copy.target_type = driver::kMemoryUnified;
  copy.target_device = target;
  return copy;
}

std::size_t rows_of(const graph::Box& box, const graph::BoxSide& side) {
  return box.depth == 1 ? box.height : side.slice / side.pitch;
}

}  // namespace

hipError_t convert_copy(driver::Copy3D& copy, const graph::Box& work, const NamedArray* target,
                        const NamedArray* source) {
  const auto one =
      graph::as_one_copy(work, target ? &target->place : nullptr, source ? &source->place : nullptr);
  if (!one) return hipErrorInvalidValue;
  const graph::Box& box = one->box;
  copy = between<driver::Copy3D>(box.target.memory(), box.source.memory());
  copy.width_bytes = box.width;
  copy.height = box.height;
  copy.depth = box.depth;
  if (source) {
    copy.source_type = driver::kMemoryArray;
    copy.source_device = nullptr;
    copy.source_array = source->array;
    copy.source_x_bytes = one->source->x;
    copy.source_y = one->source->y;
    copy.source_z = one->source->z;
  } else {
    copy.source_pitch = box.source.pitch;
    copy.source_height = rows_of(box, box.source);
  }
  if (target) {
    copy.target_type = driver::kMemoryArray;
    copy.target_device = nullptr;
    copy.target_array = target->array;
    copy.target_x_bytes = one->target->x;
    copy.target_y = one->target->y;
    copy.target_z = one->target->z;
  } else {
    copy.target_pitch = box.target.pitch;
    copy.target_height = rows_of(box, box.target);
  }
  return hipSuccess;
}

driver::Copy2D convert_rows(const graph::CopyWork& work) {
  auto copy = between<driver::Copy2D>(work.target.memory(), work.source.memory());
  copy.source_pitch = work.source.pitch;
  copy.target_pitch = work.target.pitch;
  copy.width_bytes = work.width;
  copy.height = work.height;
  return copy;
}

driver::FillNode convert_fill(const graph::FillWork& work) {
  // The driver refuses a value that its element cannot hold.
  const std::uint32_t mask = work.element_bytes == 4 ? ~0U : (1U << 8 * work.element_bytes) - 1;
  return {work.target, work.pitch, work.value & mask, work.element_bytes, work.width / work.element_bytes,
          work.height};
}

hipError_t LaunchExtra::read(void** extra) {
  has_ = extra != nullptr;
  if (!has_) return hipSuccess;
  void* bytes = nullptr;
  void* size = nullptr;
  constexpr std::size_t kWords = 8;
  for (std::size_t i = 0; i < kWords && extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      bytes = extra[i + 1];
    else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      size = extra[i + 1];
    else
      return hipErrorInvalidValue;
  }
  if (!size) return hipErrorInvalidValue;
  const std::size_t count = *static_cast<const std::size_t*>(size);
  if (!bytes && count != 0) return hipErrorInvalidValue;
  has_ = count != 0;  // the driver takes no empty buffer
  list_[0] = reinterpret_cast<void*>(driver::kLaunchBufferPointer);
  list_[1] = bytes;
  list_[2] = reinterpret_cast<void*>(driver::kLaunchBufferSize);
  list_[3] = size;
  list_[4] = reinterpret_cast<void*>(driver::kLaunchEnd);
  return hipSuccess;
}

hipError_t mask_wait_value(std::uint64_t& value, unsigned condition, std::uint64_t mask, std::uint64_t all) {
  if (condition > hipStreamWaitValueNor) return hipErrorInvalidValue;
  if ((mask & all) == all) return hipSuccess;
  // (word & mask & value) != 0: the mask can be applied to the value. The other conditions look at masked
  // bits too.
  if (condition != hipStreamWaitValueAnd) return hipErrorNotSupported;
  value &= mask;
  return hipSuccess;
}

driver::AllocationProperties convert(const hipMemAllocationProp& p) {
  driver::AllocationProperties to{};
  to.type = p.type;
  to.handle_types = p.requestedHandleType;
  to.location = {p.location.type, p.location.id};
  to.win32_metadata = p.win32HandleMetaData;
  to.flags.compression = p.compressionType;
  to.flags.usage = p.usage;
  return to;
}

hipMemAllocationProp convert_back(const driver::AllocationProperties& p) {
  hipMemAllocationProp to{};
  to.type = static_cast<hipMemAllocationType>(p.type);
  to.requestedHandleType = static_cast<hipMemAllocationHandleType>(p.handle_types);
  to.location = {static_cast<hipMemLocationType>(p.location.type), p.location.id};
  to.win32HandleMetaData = p.win32_metadata;
  to.compressionType = p.flags.compression;
  to.usage = p.flags.usage;
  return to;
}

driver::PoolProperties convert(const hipMemPoolProps& p, unsigned major) {
  driver::PoolProperties to{};
  to.type = p.allocType;
  to.handle_types = p.handleTypes;
  to.location = {p.location.type, p.location.id};
  to.win32_security = p.win32SecurityAttributes;
  to.size_max = abi::pool_limit(major, p);
  return to;
}

std::vector<driver::AccessDescription> convert(std::span<const hipMemAccessDesc> wishes) {
  std::vector<driver::AccessDescription> access;
  access.reserve(wishes.size());
  for (const hipMemAccessDesc& wish : wishes)
    access.push_back({{wish.location.type, wish.location.id}, wish.flags});
  return access;
}

}  // namespace tf::cuda
