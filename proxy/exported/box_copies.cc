// SPDX-License-Identifier: Apache-2.0
// The strided copies of the API, and those of arrays, converted to one form.
#include <vector>

#include "hipcore/graph/box_forms.h"
#include "hipcore/memory/copy_kind.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

// REQUIRES: call.connected()
const array::Finder& arrays_of(ApiCall& call) { return call.client().arrays().library(); }

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
  if (!hipdata::is_kind(kind)) return call.finish(hipErrorInvalidMemcpyDirection);
  return strided(call, width == 0 || height == 0, kind, stream, wait, [&](graph::CopyWork& box) {
    return graph::read_rows(target, target_pitch, source, source_pitch, width, height, kind, box);
  });
}

hipError_t param_3d(ApiCall& call, const hipMemcpy3DParms* from, hipStream_t stream, bool wait) {
  if (from == nullptr) return call.finish(hipErrorInvalidValue);
  if (!hipdata::is_kind(from->kind)) return call.finish(hipErrorInvalidMemcpyDirection);
  const hipExtent& extent = from->extent;
  const bool is_empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
  return strided(call, is_empty, from->kind, stream, wait,
                 [&](graph::CopyWork& box) { return graph::read_copy(*from, arrays_of(call), box); });
}

hipError_t driver_copy(ApiCall& call, const abi::DriverCopy* from, hipStream_t stream, bool wait) {
  if (from == nullptr) return call.finish(hipErrorInvalidValue);
  const bool is_empty = from->width == 0 || from->height == 0 || from->depth == 0;
  return strided(call, is_empty, hipMemcpyDefault, stream, wait,
                 [&](graph::CopyWork& box) { return graph::read_parameters(*from, arrays_of(call), box); });
}

hipError_t array_rows(ApiCall& call, const graph::ArrayRows& rows, hipStream_t stream, bool wait) {
  if (!hipdata::is_kind(rows.kind)) return call.finish(hipErrorInvalidMemcpyDirection);
  return strided(call, rows.width == 0 || rows.height == 0, rows.kind, stream, wait,
                 [&](graph::CopyWork& box) { return graph::read_array_rows(rows, arrays_of(call), box); });
}

// Synchronous: the pieces follow each other.
hipError_t array_bytes(ApiCall& call, const graph::ArrayBytes& bytes, hipStream_t stream) {
  if (!hipdata::is_kind(bytes.kind)) return call.finish(hipErrorInvalidMemcpyDirection);
  if (!call.connected()) return call.finish();
  CopyMode mode;
  if (!copy_mode(call, stream, true, mode)) return call.finish();
  std::vector<graph::CopyWork> pieces;
  hipError_t error = graph::read_array_bytes(bytes, arrays_of(call), pieces);
  for (const graph::CopyWork& piece : pieces)
    if (error == hipSuccess) error = copy_box(call.client().copies(), mode, piece, bytes.kind);
  return call.finish(error);
}

// Of the first row only, as in AMD's runtime.
hipError_t array_line(ApiCall& call, hipArray_const_t array, bool to_array, std::size_t offset,
                      const void* memory, std::size_t bytes) {
  if (!call.connected()) return call.finish();
  if (!arrays_of(call).find(array) || memory == nullptr) return call.finish(hipErrorInvalidValue);
  const hipMemcpyKind kind = to_array ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
  return array_rows(call, {array, to_array, offset, 0, memory, bytes, bytes, 1, kind}, nullptr, true);
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

hipError_t hipMemcpy2DToArray(ApiCall& call, hipArray* target, size_t x, size_t y, const void* source,
                              size_t pitch, size_t width, size_t height, hipMemcpyKind kind) {
  return array_rows(call, {target, true, x, y, source, pitch, width, height, kind}, nullptr, true);
}

hipError_t hipMemcpy2DToArrayAsync(ApiCall& call, hipArray* target, size_t x, size_t y, const void* source,
                                   size_t pitch, size_t width, size_t height, hipMemcpyKind kind,
                                   hipStream_t stream) {
  return array_rows(call, {target, true, x, y, source, pitch, width, height, kind}, stream, false);
}

hipError_t hipMemcpy2DFromArray(ApiCall& call, void* target, size_t pitch, hipArray_const_t source, size_t x,
                                size_t y, size_t width, size_t height, hipMemcpyKind kind) {
  return array_rows(call, {source, false, x, y, target, pitch, width, height, kind}, nullptr, true);
}

hipError_t hipMemcpy2DFromArrayAsync(ApiCall& call, void* target, size_t pitch, hipArray_const_t source,
                                     size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind,
                                     hipStream_t stream) {
  return array_rows(call, {source, false, x, y, target, pitch, width, height, kind}, stream, false);
}

hipError_t hipMemcpyToArray(ApiCall& call, hipArray* target, size_t x, size_t y, const void* source,
                            size_t bytes, hipMemcpyKind kind) {
  return array_bytes(call, {target, true, x, y, source, bytes, kind}, nullptr);
}

hipError_t hipMemcpyFromArray(ApiCall& call, void* target, hipArray_const_t source, size_t x, size_t y,
                              size_t bytes, hipMemcpyKind kind) {
  return array_bytes(call, {source, false, x, y, target, bytes, kind}, nullptr);
}

hipError_t hipMemcpyFromArray_spt(ApiCall& call, void* target, hipArray_const_t source, size_t x, size_t y,
                                  size_t bytes, hipMemcpyKind kind) {
  return array_bytes(call, {source, false, x, y, target, bytes, kind}, hipStreamPerThread);
}

hipError_t hipMemcpyHtoA(ApiCall& call, hipArray* target, size_t offset, const void* source, size_t bytes) {
  return array_line(call, target, true, offset, source, bytes);
}

hipError_t hipMemcpyAtoH(ApiCall& call, void* target, hipArray* source, size_t offset, size_t bytes) {
  return array_line(call, source, false, offset, target, bytes);
}

}  // namespace tf::proxy::custom
