// SPDX-License-Identifier: Apache-2.0
// The strided copies of the API, converted to one form. Arrays are not supported: hipErrorNotSupported.
#include "hipcore/graph/box_forms.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

// Reads the parameters, and makes the copy. Of an empty box nothing is read.
template <typename Read>
hipError_t strided(ApiCall& call, bool is_empty, hipMemcpyKind kind, hipStream_t stream, bool wait,
                   Read&& read) {
  if (!call.connected()) return call.finish();
  CopyMode mode;
  if (!copy_mode(call, stream, wait, mode)) return call.finish();
  graph::CopyWork box;
  if (!is_empty)
    if (const hipError_t error = read(box); error != hipSuccess) return call.finish(error);
  return call.finish(copy_box(call.client().copies(), mode, box, kind));
}

hipError_t copy_2d(ApiCall& call, void* target, size_t target_pitch, const void* source, size_t source_pitch,
                   size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream, bool wait) {
  return strided(call, width == 0 || height == 0, kind, stream, wait, [&](graph::CopyWork& box) {
    return graph::read_rows(target, target_pitch, source, source_pitch, width, height, kind, box);
  });
}

hipError_t param_3d(ApiCall& call, const hipMemcpy3DParms* from, hipStream_t stream, bool wait) {
  if (from == nullptr) return call.finish(hipErrorInvalidValue);
  if (from->srcArray != nullptr || from->dstArray != nullptr) return call.finish(hipErrorNotSupported);
  const hipExtent& extent = from->extent;
  const bool is_empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
  return strided(call, is_empty, from->kind, stream, wait,
                 [&](graph::CopyWork& box) { return graph::read_copy(*from, box); });
}

hipError_t driver_copy(ApiCall& call, const abi::DriverCopy* from, hipStream_t stream, bool wait) {
  if (from == nullptr) return call.finish(hipErrorInvalidValue);
  const bool is_empty = from->width == 0 || from->height == 0 || from->depth == 0;
  return strided(call, is_empty, hipMemcpyDefault, stream, wait,
                 [&](graph::CopyWork& box) { return graph::read_parameters(*from, box); });
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

hipError_t hipMemcpyParam2D(ApiCall& call, const abi::DriverCopy* from) {
  return driver_copy(call, from, nullptr, true);
}

hipError_t hipMemcpyParam2DAsync(ApiCall& call, const abi::DriverCopy* from, hipStream_t stream) {
  return driver_copy(call, from, stream, false);
}

hipError_t hipDrvMemcpy2DUnaligned(ApiCall& call, const abi::DriverCopy* from) {
  return driver_copy(call, from, nullptr, true);
}

hipError_t hipMemcpy3D(ApiCall& call, const hipMemcpy3DParms* from) {
  return param_3d(call, from, nullptr, true);
}

hipError_t hipMemcpy3DAsync(ApiCall& call, const hipMemcpy3DParms* from, hipStream_t stream) {
  return param_3d(call, from, stream, false);
}

hipError_t hipDrvMemcpy3D(ApiCall& call, const abi::DriverCopy* from) {
  return driver_copy(call, from, nullptr, true);
}

hipError_t hipDrvMemcpy3DAsync(ApiCall& call, const abi::DriverCopy* from, hipStream_t stream) {
  return driver_copy(call, from, stream, false);
}

}  // namespace tf::proxy::custom
