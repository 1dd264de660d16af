// SPDX-License-Identifier: Apache-2.0
// The strided copies of the API, converted to one form. Arrays are not supported: hipErrorNotSupported.
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

hipError_t strided(ApiCall& call, const Box& box, hipMemcpyKind kind, hipStream_t stream, bool wait) {
  if (!call.connected()) return call.finish();
  CopyMode mode;
  if (!copy_mode(call, stream, wait, mode)) return call.finish();
  return call.finish(copy_box(call.client().copies(), mode, box, kind));
}

hipError_t copy_2d(ApiCall& call, void* target, size_t target_pitch, const void* source, size_t source_pitch,
                   size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream, bool wait) {
  if (width > target_pitch || width > source_pitch) return call.finish(hipErrorInvalidPitchValue);
  Box box;
  box.target = {to_raw(target), target_pitch, 0};
  box.source = {to_raw(source), source_pitch, 0};
  box.width = width;
  box.height = height;
  return strided(call, box, kind, stream, wait);
}

// One end of the driver-style descriptors. False: an array.
bool driver_side(hipMemoryType type, void* host, hipDeviceptr_t device, size_t x, size_t y, size_t z,
                 size_t pitch, size_t rows, BoxSide& side) {
  if (type == hipMemoryTypeArray) return false;
  std::uint64_t base = type == hipMemoryTypeHost ? to_raw(host) : to_raw(device);
  side.pitch = pitch;
  side.slice = pitch * rows;
  side.address = base == 0 ? 0 : base + z * side.slice + y * pitch + x;
  return true;
}

hipError_t param_2d(ApiCall& call, const hip_Memcpy2D* from, hipStream_t stream, bool wait) {
  if (from == nullptr) return call.finish(hipErrorInvalidValue);
  Box box;
  box.width = from->WidthInBytes;
  box.height = from->Height;
  std::size_t source_pitch = from->srcPitch != 0 ? from->srcPitch : box.width;
  std::size_t target_pitch = from->dstPitch != 0 ? from->dstPitch : box.width;
  bool plain = driver_side(from->srcMemoryType, const_cast<void*>(from->srcHost), from->srcDevice,
                           from->srcXInBytes, from->srcY, 0, source_pitch, box.height, box.source) &&
               driver_side(from->dstMemoryType, from->dstHost, from->dstDevice, from->dstXInBytes, from->dstY,
                           0, target_pitch, box.height, box.target);
  if (!plain) return call.finish(hipErrorNotSupported);
  return strided(call, box, hipMemcpyDefault, stream, wait);
}

hipError_t param_3d(ApiCall& call, const hipMemcpy3DParms* from, hipStream_t stream, bool wait) {
  if (from == nullptr) return call.finish(hipErrorInvalidValue);
  if (from->srcArray != nullptr || from->dstArray != nullptr) return call.finish(hipErrorNotSupported);
  const hipPitchedPtr& source = from->srcPtr;
  const hipPitchedPtr& target = from->dstPtr;
  Box box;
  box.width = from->extent.width;
  box.height = from->extent.height;
  box.depth = from->extent.depth;
  box.source.pitch = source.pitch;
  box.source.slice = source.pitch * (source.ysize != 0 ? source.ysize : box.height);
  box.target.pitch = target.pitch;
  box.target.slice = target.pitch * (target.ysize != 0 ? target.ysize : box.height);
  if (box.width > source.pitch || box.width > target.pitch) return call.finish(hipErrorInvalidPitchValue);
  if (source.ptr == nullptr || target.ptr == nullptr) return call.finish(hipErrorInvalidValue);
  box.source.address =
      to_raw(source.ptr) + from->srcPos.z * box.source.slice + from->srcPos.y * source.pitch + from->srcPos.x;
  box.target.address =
      to_raw(target.ptr) + from->dstPos.z * box.target.slice + from->dstPos.y * target.pitch + from->dstPos.x;
  return strided(call, box, from->kind, stream, wait);
}

hipError_t driver_3d(ApiCall& call, const HIP_MEMCPY3D* from, hipStream_t stream, bool wait) {
  if (from == nullptr) return call.finish(hipErrorInvalidValue);
  Box box;
  box.width = from->WidthInBytes;
  box.height = from->Height;
  box.depth = from->Depth;
  std::size_t source_pitch = from->srcPitch != 0 ? from->srcPitch : box.width;
  std::size_t target_pitch = from->dstPitch != 0 ? from->dstPitch : box.width;
  std::size_t source_rows = from->srcHeight != 0 ? from->srcHeight : box.height;
  std::size_t target_rows = from->dstHeight != 0 ? from->dstHeight : box.height;
  bool plain =
      driver_side(from->srcMemoryType, const_cast<void*>(from->srcHost), from->srcDevice, from->srcXInBytes,
                  from->srcY, from->srcZ, source_pitch, source_rows, box.source) &&
      driver_side(from->dstMemoryType, from->dstHost, from->dstDevice, from->dstXInBytes, from->dstY,
                  from->dstZ, target_pitch, target_rows, box.target);
  if (!plain) return call.finish(hipErrorNotSupported);
  return strided(call, box, hipMemcpyDefault, stream, wait);
}

}  // namespace

hipError_t hipMemcpy2D(ApiCall& call, void* target, size_t target_pitch, const void* source,
                       size_t source_pitch, size_t width, size_t height, hipMemcpyKind kind) {
  return copy_2d(call, target, target_pitch, source, source_pitch, width, height, kind, nullptr, true);
}

hipError_t hipMemcpy2DAsync(ApiCall& call, void* target, size_t target_pitch, const void* source,
                            size_t source_pitch, size_t width, size_t height, hipMemcpyKind kind,
                            hipStream_t stream) {
  return copy_2d(call, target, target_pitch, source, source_pitch, width, height, kind, stream, false);
}

hipError_t hipMemcpyParam2D(ApiCall& call, const hip_Memcpy2D* from) {
  return param_2d(call, from, nullptr, true);
}

hipError_t hipMemcpyParam2DAsync(ApiCall& call, const hip_Memcpy2D* from, hipStream_t stream) {
  return param_2d(call, from, stream, false);
}

hipError_t hipDrvMemcpy2DUnaligned(ApiCall& call, const hip_Memcpy2D* from) {
  return param_2d(call, from, nullptr, true);
}

hipError_t hipMemcpy3D(ApiCall& call, const hipMemcpy3DParms* from) {
  return param_3d(call, from, nullptr, true);
}

hipError_t hipMemcpy3DAsync(ApiCall& call, const hipMemcpy3DParms* from, hipStream_t stream) {
  return param_3d(call, from, stream, false);
}

hipError_t hipDrvMemcpy3D(ApiCall& call, const HIP_MEMCPY3D* from) {
  return driver_3d(call, from, nullptr, true);
}

hipError_t hipDrvMemcpy3DAsync(ApiCall& call, const HIP_MEMCPY3D* from, hipStream_t stream) {
  return driver_3d(call, from, stream, false);
}

}  // namespace tf::proxy::custom
