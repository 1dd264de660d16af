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

driver::Copy3D convert_line(void* target, const void* source, std::size_t bytes) {
  driver::Copy3D copy = between<driver::Copy3D>(target, source);
  copy.width_bytes = copy.source_pitch = copy.target_pitch = bytes;
  copy.height = copy.depth = copy.source_height = copy.target_height = 1;
  return copy;
}

hipMemcpy3DParms convert_back(const driver::Copy3D& copy) {
  hipMemcpy3DParms p{};
  const bool from_host = copy.source_type == driver::kMemoryHost;
  const bool to_host = copy.target_type == driver::kMemoryHost;
  p.srcPtr.ptr = from_host ? const_cast<void*>(copy.source_host) : copy.source_device;
  p.srcPtr.pitch = copy.source_pitch;
  p.srcPtr.xsize = copy.width_bytes;
  p.srcPtr.ysize = copy.source_height;
  p.srcPos = {copy.source_x_bytes, copy.source_y, copy.source_z};
  p.dstPtr.ptr = to_host ? copy.target_host : copy.target_device;
  p.dstPtr.pitch = copy.target_pitch;
  p.dstPtr.xsize = copy.width_bytes;
  p.dstPtr.ysize = copy.target_height;
  p.dstPos = {copy.target_x_bytes, copy.target_y, copy.target_z};
  p.extent = {copy.width_bytes, copy.height, copy.depth};
  p.kind = hipMemcpyDefault;
  return p;
}

hipError_t plan_fill(FillPlan& plan, const hipPitchedPtr& target, const hipExtent& extent) {
  if (!target.ptr || extent.width > target.pitch) return hipErrorInvalidValue;
  std::size_t reach = 0;
  if (__builtin_mul_overflow(target.pitch, target.ysize, &plan.slice)) return hipErrorInvalidValue;
  if (__builtin_mul_overflow(plan.slice, extent.depth, &reach)) return hipErrorInvalidValue;
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

driver::NodeAttributeValue convert(hipKernelNodeAttrID attribute, const hipKernelNodeAttrValue& value) {
  driver::NodeAttributeValue to;
  std::memset(&to, 0, sizeof to);
  if (attribute == hipKernelNodeAttributeCooperative) {
    to.cooperative = value.cooperative;
  } else {
    const hipAccessPolicyWindow& from = value.accessPolicyWindow;
    to.access_policy = {from.base_ptr, from.num_bytes, from.hitRatio, from.hitProp, from.missProp};
  }
  return to;
}

hipKernelNodeAttrValue convert_back(hipKernelNodeAttrID attribute, const driver::NodeAttributeValue& value) {
  hipKernelNodeAttrValue to;
  std::memset(&to, 0, sizeof to);
  if (attribute == hipKernelNodeAttributeCooperative) {
    to.cooperative = value.cooperative;
    return to;
  }
  const driver::AccessPolicy& from = value.access_policy;
  to.accessPolicyWindow.base_ptr = from.base;
  to.accessPolicyWindow.num_bytes = from.bytes;
  to.accessPolicyWindow.hitRatio = from.hit_ratio;
  to.accessPolicyWindow.hitProp = static_cast<hipAccessProperty>(from.hit);
  to.accessPolicyWindow.missProp = static_cast<hipAccessProperty>(from.miss);
  return to;
}

driver::FillNode convert(const hipMemsetParams& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

hipMemsetParams convert_back(const driver::FillNode& node) {
  hipMemsetParams p{};
  p.dst = node.target;
  p.pitch = node.pitch;
  p.value = node.value;
  p.elementSize = node.element_bytes;
  p.width = node.width;
  p.height = node.height;
  return p;
}

hipGraphNodeType convert_node_type(int type) {
  switch (type) {
    case driver::kNodeKernel: return hipGraphNodeTypeKernel;
    case driver::kNodeCopy: return hipGraphNodeTypeMemcpy;
    case driver::kNodeFill: return hipGraphNodeTypeMemset;
    case driver::kNodeHost: return hipGraphNodeTypeHost;
    case driver::kNodeGraph: return hipGraphNodeTypeGraph;
    case driver::kNodeWaitEvent: return hipGraphNodeTypeWaitEvent;
    case driver::kNodeEventRecord: return hipGraphNodeTypeEventRecord;
    default: return hipGraphNodeTypeEmpty;
  }
}

}  // namespace tf::cuda
