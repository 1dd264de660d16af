// SPDX-License-Identifier: Apache-2.0
// 2D and 3D copies: every form of the API becomes a Box. Arrays are not supported.
#include <cstdint>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/copy.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

std::byte* offset_of(const void* base, std::size_t x, std::size_t y, std::size_t z, std::size_t pitch,
                     std::size_t slice) {
  return static_cast<std::byte*>(const_cast<void*>(base)) + z * slice + y * pitch + x;
}

// One side of the driver-style copies.
struct Side {
  hipMemoryType type;
  const void* host;
  const void* device;
  const void* array;

  // Null: not given. Arrays were refused before.
  const void* base() const { return type == hipMemoryTypeHost ? host : device; }
};

hipError_t check_side(const Side& side) {
  if (side.type == hipMemoryTypeArray || side.array) return hipErrorNotSupported;
  if (side.type != hipMemoryTypeHost && side.type != hipMemoryTypeDevice && side.type != hipMemoryTypeUnified)
    return hipErrorInvalidValue;
  return side.base() ? hipSuccess : hipErrorInvalidValue;
}

hipError_t submit_checked(const Box& box, hipStream_t stream_handle, Wait wait) {
  std::shared_ptr<Stream> stream;
  if (const hipError_t status = find_stream(stream_handle, stream)) return status;
  return submit_copy(box, *stream, wait);
}

hipError_t copy_parameters(const hip_Memcpy2D* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (p->WidthInBytes == 0 || p->Height == 0) return hipSuccess;
  const Side source{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray};
  const Side target{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray};
  if (const hipError_t status = check_side(source)) return status;
  if (const hipError_t status = check_side(target)) return status;
  Box box;
  box.width = p->WidthInBytes;
  box.height = p->Height;
  box.source_pitch = p->srcPitch ? p->srcPitch : p->srcXInBytes + p->WidthInBytes;
  box.target_pitch = p->dstPitch ? p->dstPitch : p->dstXInBytes + p->WidthInBytes;
  if (box.source_pitch < box.width || box.target_pitch < box.width) return hipErrorInvalidPitchValue;
  box.source = offset_of(source.base(), p->srcXInBytes, p->srcY, 0, box.source_pitch, 0);
  box.target = offset_of(target.base(), p->dstXInBytes, p->dstY, 0, box.target_pitch, 0);
  return submit_checked(box, stream, wait);
}

hipError_t copy_parameters(const HIP_MEMCPY3D* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (p->WidthInBytes == 0 || p->Height == 0 || p->Depth == 0) return hipSuccess;
  const Side source{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray};
  const Side target{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray};
  if (const hipError_t status = check_side(source)) return status;
  if (const hipError_t status = check_side(target)) return status;
  Box box;
  box.width = p->WidthInBytes;
  box.height = p->Height;
  box.depth = p->Depth;
  box.source_pitch = p->srcPitch ? p->srcPitch : std::size_t{p->srcXInBytes} + p->WidthInBytes;
  box.target_pitch = p->dstPitch ? p->dstPitch : std::size_t{p->dstXInBytes} + p->WidthInBytes;
  if (box.source_pitch < box.width || box.target_pitch < box.width) return hipErrorInvalidPitchValue;
  box.source_slice = box.source_pitch * (p->srcHeight ? p->srcHeight : p->Height);
  box.target_slice = box.target_pitch * (p->dstHeight ? p->dstHeight : p->Height);
  box.source = offset_of(source.base(), p->srcXInBytes, p->srcY, p->srcZ, box.source_pitch, box.source_slice);
  box.target = offset_of(target.base(), p->dstXInBytes, p->dstY, p->dstZ, box.target_pitch, box.target_slice);
  return submit_checked(box, stream, wait);
}

}  // namespace

hipError_t copy_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, hipStream_t stream,
                     Wait wait) {
  if (!valid_kind(kind)) return hipErrorInvalidMemcpyDirection;
  if (width == 0 || height == 0) return hipSuccess;
  if (!target || !source) return hipErrorInvalidValue;
  if (width > target_pitch || width > source_pitch) return hipErrorInvalidPitchValue;
  Box box;
  box.target = static_cast<std::byte*>(target);
  box.source = static_cast<const std::byte*>(source);
  box.target_pitch = target_pitch;
  box.source_pitch = source_pitch;
  box.width = width;
  box.height = height;
  box.kind = kind;
  return submit_checked(box, stream, wait);
}

hipError_t copy_3d(const hipMemcpy3DParms* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (!valid_kind(p->kind)) return hipErrorInvalidMemcpyDirection;
  if (p->srcArray || p->dstArray) return hipErrorNotSupported;
  const hipExtent& extent = p->extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return hipSuccess;
  if (!p->srcPtr.ptr || !p->dstPtr.ptr) return hipErrorInvalidValue;
  if (p->srcPtr.pitch < extent.width || p->dstPtr.pitch < extent.width) return hipErrorInvalidPitchValue;
  Box box;
  box.width = extent.width;
  box.height = extent.height;
  box.depth = extent.depth;
  box.kind = p->kind;
  box.source_pitch = p->srcPtr.pitch;
  box.target_pitch = p->dstPtr.pitch;
  if (__builtin_mul_overflow(p->srcPtr.pitch, p->srcPtr.ysize, &box.source_slice))
    return hipErrorInvalidValue;
  if (__builtin_mul_overflow(p->dstPtr.pitch, p->dstPtr.ysize, &box.target_slice))
    return hipErrorInvalidValue;
  box.source =
      offset_of(p->srcPtr.ptr, p->srcPos.x, p->srcPos.y, p->srcPos.z, box.source_pitch, box.source_slice);
  box.target =
      offset_of(p->dstPtr.ptr, p->dstPos.x, p->dstPos.y, p->dstPos.z, box.target_pitch, box.target_slice);
  return submit_checked(box, stream, wait);
}

}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

#include "worker/runtime/common/copy_box_functions.inc"

}  // extern "C"
