// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cuda/convert.h"

#include <algorithm>
#include <cstring>

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

// An end of the driver-style copies by its address.
hipError_t address_of(hipMemoryType type, const void* host, const void* device, const void* array,
                      const void*& address) {
  if (type == hipMemoryTypeArray || array) return hipErrorNotSupported;
  if (type != hipMemoryTypeHost && type != hipMemoryTypeDevice && type != hipMemoryTypeUnified)
    return hipErrorInvalidValue;
  address = type == hipMemoryTypeHost ? host : device;
  return address ? hipSuccess : hipErrorInvalidValue;
}

template <typename Parameters>
hipError_t ends_of(const Parameters& p, const void*& source, const void*& target) {
  const hipError_t status = address_of(p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, source);
  if (status != hipSuccess) return status;
  return address_of(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, target);
}

}  // namespace

bool valid_kind(hipMemcpyKind kind) { return kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault; }

hipError_t convert_rows(driver::Copy2D& copy, void* target, std::size_t target_pitch, const void* source,
                        std::size_t source_pitch, std::size_t width, std::size_t height) {
  if (!target || !source) return hipErrorInvalidValue;
  if (width > target_pitch || width > source_pitch) return hipErrorInvalidPitchValue;
  copy = between<driver::Copy2D>(target, source);
  copy.source_pitch = source_pitch;
  copy.target_pitch = target_pitch;
  copy.width_bytes = width;
  copy.height = height;
  return hipSuccess;
}

hipError_t convert_box(driver::Copy3D& copy, const hipMemcpy3DParms& p) {
  if (!valid_kind(p.kind)) return hipErrorInvalidMemcpyDirection;
  if (p.srcArray || p.dstArray) return hipErrorNotSupported;
  if (!p.srcPtr.ptr || !p.dstPtr.ptr) return hipErrorInvalidValue;
  if (p.srcPtr.pitch < p.extent.width || p.dstPtr.pitch < p.extent.width) return hipErrorInvalidPitchValue;
  copy = between<driver::Copy3D>(p.dstPtr.ptr, p.srcPtr.ptr);
  copy.source_x_bytes = p.srcPos.x;
  copy.source_y = p.srcPos.y;
  copy.source_z = p.srcPos.z;
  copy.source_pitch = p.srcPtr.pitch;
  copy.source_height = p.srcPtr.ysize;
  copy.target_x_bytes = p.dstPos.x;
  copy.target_y = p.dstPos.y;
  copy.target_z = p.dstPos.z;
  copy.target_pitch = p.dstPtr.pitch;
  copy.target_height = p.dstPtr.ysize;
  copy.width_bytes = p.extent.width;
  copy.height = p.extent.height;
  copy.depth = p.extent.depth;
  // A single slice may say nothing about the distance to the next one.
  if (copy.depth == 1) {
    copy.source_height = std::max(copy.source_height, copy.source_y + copy.height);
    copy.target_height = std::max(copy.target_height, copy.target_y + copy.height);
  }
  return hipSuccess;
}

hipError_t convert_driver_rows(driver::Copy2D& copy, const hip_Memcpy2D& p) {
  const void* source = nullptr;
  const void* target = nullptr;
  if (const hipError_t status = ends_of(p, source, target)) return status;
  copy = between<driver::Copy2D>(const_cast<void*>(target), source);
  copy.source_x_bytes = p.srcXInBytes;
  copy.source_y = p.srcY;
  copy.source_pitch = p.srcPitch ? p.srcPitch : p.srcXInBytes + p.WidthInBytes;
  copy.target_x_bytes = p.dstXInBytes;
  copy.target_y = p.dstY;
  copy.target_pitch = p.dstPitch ? p.dstPitch : p.dstXInBytes + p.WidthInBytes;
  copy.width_bytes = p.WidthInBytes;
  copy.height = p.Height;
  const bool fits = copy.source_pitch >= copy.width_bytes && copy.target_pitch >= copy.width_bytes;
  return fits ? hipSuccess : hipErrorInvalidPitchValue;
}

hipError_t convert_driver_box(driver::Copy3D& copy, const HIP_MEMCPY3D& p) {
  const void* source = nullptr;
  const void* target = nullptr;
  if (const hipError_t status = ends_of(p, source, target)) return status;
  copy = between<driver::Copy3D>(const_cast<void*>(target), source);
  copy.source_x_bytes = p.srcXInBytes;
  copy.source_y = p.srcY;
  copy.source_z = p.srcZ;
  copy.source_pitch = p.srcPitch ? p.srcPitch : std::size_t{p.srcXInBytes} + p.WidthInBytes;
  copy.source_height = p.srcHeight ? p.srcHeight : p.Height;
  copy.target_x_bytes = p.dstXInBytes;
  copy.target_y = p.dstY;
  copy.target_z = p.dstZ;
  copy.target_pitch = p.dstPitch ? p.dstPitch : std::size_t{p.dstXInBytes} + p.WidthInBytes;
  copy.target_height = p.dstHeight ? p.dstHeight : p.Height;
  copy.width_bytes = p.WidthInBytes;
  copy.height = p.Height;
  copy.depth = p.Depth;
  const bool fits = copy.source_pitch >= copy.width_bytes && copy.target_pitch >= copy.width_bytes;
  return fits ? hipSuccess : hipErrorInvalidPitchValue;
}

namespace {

// Slices of the driver's boxes are whole rows apart.
bool rows_of(const graph::CopyWork& work, const graph::CopySide& side, std::size_t& rows) {
  rows = work.height;
  if (work.depth == 1) return true;
  if (side.pitch == 0 || side.slice % side.pitch != 0) return false;
  rows = side.slice / side.pitch;
  return true;
}

std::byte* start_of(void* address, std::size_t x_bytes, std::size_t y, std::size_t pitch) {
  return static_cast<std::byte*>(address) + y * pitch + x_bytes;
}

graph::CopyWork make_work(std::size_t width, std::size_t height, std::size_t depth, hipMemcpyKind kind) {
  graph::CopyWork work;
  work.width = width;
  work.height = height;
  work.depth = depth;
  work.kind = kind;
  if (height > 1 || depth > 1) work.type = hipGraphNodeTypeMemcpy;
  return work;
}

}  // namespace

hipError_t convert_copy(driver::Copy3D& copy, const graph::CopyWork& work) {
  copy = between<driver::Copy3D>(work.target.address, work.source.address);
  copy.source_pitch = work.source.pitch;
  copy.target_pitch = work.target.pitch;
  copy.width_bytes = work.width;
  copy.height = work.height;
  copy.depth = work.depth;
  const bool whole =
      rows_of(work, work.source, copy.source_height) && rows_of(work, work.target, copy.target_height);
  return whole ? hipSuccess : hipErrorInvalidValue;
}

graph::CopyWork convert_back(const driver::Copy2D& copy, hipMemcpyKind kind) {
  graph::CopyWork work = make_work(copy.width_bytes, copy.height, 1, kind);
  work.source.address = start_of(copy.source_device, copy.source_x_bytes, copy.source_y, copy.source_pitch);
  work.source.pitch = copy.source_pitch;
  work.source.slice = copy.source_pitch * copy.height;
  work.target.address = start_of(copy.target_device, copy.target_x_bytes, copy.target_y, copy.target_pitch);
  work.target.pitch = copy.target_pitch;
  work.target.slice = copy.target_pitch * copy.height;
  return work;
}

graph::CopyWork convert_back(const driver::Copy3D& copy, hipMemcpyKind kind) {
  graph::CopyWork work = make_work(copy.width_bytes, copy.height, copy.depth, kind);
  work.source.pitch = copy.source_pitch;
  work.source.slice = copy.source_pitch * copy.source_height;
  work.source.address = start_of(copy.source_device, copy.source_x_bytes, copy.source_y, copy.source_pitch) +
                        copy.source_z * work.source.slice;
  work.target.pitch = copy.target_pitch;
  work.target.slice = copy.target_pitch * copy.target_height;
  work.target.address = start_of(copy.target_device, copy.target_x_bytes, copy.target_y, copy.target_pitch) +
                        copy.target_z * work.target.slice;
  return work;
}

driver::FillNode convert_fill(const graph::FillWork& work) {
  return {work.target, work.pitch, work.value, work.element_bytes, work.width / work.element_bytes,
          work.height};
}

hipError_t plan_fill(FillPlan& plan, const hipPitchedPtr& target, const hipExtent& extent) {
  if (!target.ptr || extent.width > target.pitch) return hipErrorInvalidValue;
  std::size_t reach = 0;
  if (__builtin_mul_overflow(target.pitch, target.ysize, &plan.slice)) return hipErrorInvalidValue;
  if (__builtin_mul_overflow(plan.slice, extent.depth, &reach)) return hipErrorInvalidValue;
  if (extent.depth > 1 && target.ysize < extent.height) return hipErrorInvalidValue;  // slices would overlap
  const bool dense = extent.depth == 1 || target.ysize == extent.height;
  plan.rows = dense ? extent.height * extent.depth : extent.height;
  plan.count = dense ? 1 : extent.depth;
  return hipSuccess;
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
  // (word & mask & value) != 0: the mask can move to the value. The other conditions look at masked bits too.
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

driver::PoolProperties convert(const hipMemPoolProps& p) {
  driver::PoolProperties to{};
  to.type = p.allocType;
  to.handle_types = p.handleTypes;
  to.location = {p.location.type, p.location.id};
  to.win32_security = p.win32SecurityAttributes;
  return to;
}

}  // namespace tf::cuda
