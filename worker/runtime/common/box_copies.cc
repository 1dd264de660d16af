// SPDX-License-Identifier: Apache-2.0
// Copies of rows and boxes: turns every form of the API into a graph::CopyWork.
#include "hipcore/abi/layouts.h"
#include "hipcore/graph/box_forms.h"
#include "hipcore/memory/copy_kind.h"
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/arrays.h"
#include "worker/runtime/common/capture.h"
#include "worker/runtime/common/copies.h"

namespace tf::runtime {
namespace {

// Reads the parameters, and makes the copy or adds it to a capture. An empty box is success.
template <typename Make, typename Read>
hipError_t copy(bool is_empty, hipStream_t handle, Wait wait, Make make, Read&& read) {
  Backend::Stream stream{};
  if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
  if (is_empty) return hipSuccess;
  graph::CopyWork work;
  if (const hipError_t status = read(work)) return status;
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = capture(*library, stream, graph::copy_work(work, work.kind), wait))
      return *verdict;
  return make(work, stream, wait);
}

hipError_t copy_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, hipStream_t stream,
                     Wait wait) {
  if (!hipdata::is_kind(kind)) return hipErrorInvalidMemcpyDirection;
  return copy(width == 0 || height == 0, stream, wait, Backend::copy_rows, [&](graph::CopyWork& work) {
    return graph::read_rows(target, target_pitch, source, source_pitch, width, height, kind, work);
  });
}

hipError_t copy_3d(const hipMemcpy3DParms* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (!hipdata::is_kind(p->kind)) return hipErrorInvalidMemcpyDirection;
  const bool is_empty = p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0;
  return copy(is_empty, stream, wait, Backend::copy_box,
              [&](graph::CopyWork& work) { return graph::read_copy(*p, arrays(), work); });
}

// `Parameters`: hip_Memcpy2D or HIP_MEMCPY3D, as the program's major has them.
template <typename Parameters>
hipError_t copy_parameters(const Parameters* theirs, hipStream_t stream, Wait wait) {
  if (!theirs) return hipErrorInvalidValue;
  const abi::DriverCopy p = abi::from_program(*theirs);
  const auto make = p.depth == 1 ? Backend::copy_rows : Backend::copy_box;
  return copy(p.width == 0 || p.height == 0 || p.depth == 0, stream, wait, make,
              [&](graph::CopyWork& work) { return graph::read_parameters(p, arrays(), work); });
}

hipError_t copy_array_rows(const graph::ArrayRows& rows, hipStream_t stream, Wait wait) {
  if (!hipdata::is_kind(rows.kind)) return hipErrorInvalidMemcpyDirection;
  return copy(rows.width == 0 || rows.height == 0, stream, wait, Backend::copy_box,
              [&](graph::CopyWork& work) { return graph::read_array_rows(rows, arrays(), work); });
}

// Synchronous: the pieces follow each other.
hipError_t copy_array_bytes(const graph::ArrayBytes& bytes, hipStream_t stream) {
  if (!hipdata::is_kind(bytes.kind)) return hipErrorInvalidMemcpyDirection;
  std::vector<graph::CopyWork> pieces;
  if (const hipError_t status = graph::read_array_bytes(bytes, arrays(), pieces)) return status;
  for (const graph::CopyWork& piece : pieces) {
    const auto read = [&piece](graph::CopyWork& work) { return work = piece, hipSuccess; };
    if (const hipError_t status = copy(false, stream, Wait::kYes, Backend::copy_box, read)) return status;
  }
  return hipSuccess;
}

// Of the first row only, as in AMD's runtime.
hipError_t copy_array_line(hipArray_const_t array, bool to_array, std::size_t offset, const void* memory,
                           std::size_t bytes) {
  if (!arrays().find(array) || !memory) return hipErrorInvalidValue;
  const hipMemcpyKind kind = to_array ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
  return copy_array_rows({array, to_array, offset, 0, memory, bytes, bytes, 1, kind}, nullptr, Wait::kYes);
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                       size_t width, size_t height, hipMemcpyKind kind) {
  return api([&] {
    return copy_rows(target, target_pitch, source, source_pitch, width, height, kind, nullptr, Wait::kYes);
  });
}

hipError_t hipMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return api([&] {
    return copy_rows(target, target_pitch, source, source_pitch, width, height, kind, stream, Wait::kNo);
  });
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters) {
  return api([&] { return copy_3d(parameters, nullptr, Wait::kYes); });
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return api([&] { return copy_3d(parameters, stream, Wait::kNo); });
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D* parameters) {
  return api([&] { return copy_parameters(parameters, nullptr, Wait::kYes); });
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* parameters, hipStream_t stream) {
  return api([&] { return copy_parameters(parameters, stream, Wait::kNo); });
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* parameters) {
  return api([&] { return copy_parameters(parameters, nullptr, Wait::kYes); });
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* parameters) {
  return api([&] { return copy_parameters(parameters, nullptr, Wait::kYes); });
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* parameters, hipStream_t stream) {
  return api([&] { return copy_parameters(parameters, stream, Wait::kNo); });
}

hipError_t hipMemcpy2DToArray(hipArray* target, size_t x, size_t y, const void* source, size_t pitch,
                              size_t width, size_t height, hipMemcpyKind kind) {
  return api([&] {
    return copy_array_rows({target, true, x, y, source, pitch, width, height, kind}, nullptr, Wait::kYes);
  });
}

hipError_t hipMemcpy2DToArrayAsync(hipArray* target, size_t x, size_t y, const void* source, size_t pitch,
                                   size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return api([&] {
    return copy_array_rows({target, true, x, y, source, pitch, width, height, kind}, stream, Wait::kNo);
  });
}

hipError_t hipMemcpy2DFromArray(void* target, size_t pitch, hipArray_const_t source, size_t x, size_t y,
                                size_t width, size_t height, hipMemcpyKind kind) {
  return api([&] {
    return copy_array_rows({source, false, x, y, target, pitch, width, height, kind}, nullptr, Wait::kYes);
  });
}

hipError_t hipMemcpy2DFromArrayAsync(void* target, size_t pitch, hipArray_const_t source, size_t x, size_t y,
                                     size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return api([&] {
    return copy_array_rows({source, false, x, y, target, pitch, width, height, kind}, stream, Wait::kNo);
  });
}

hipError_t hipMemcpyToArray(hipArray* target, size_t x, size_t y, const void* source, size_t bytes,
                            hipMemcpyKind kind) {
  return api([&] { return copy_array_bytes({target, true, x, y, source, bytes, kind}, nullptr); });
}

hipError_t hipMemcpyFromArray(void* target, hipArray_const_t source, size_t x, size_t y, size_t bytes,
                              hipMemcpyKind kind) {
  return api([&] { return copy_array_bytes({source, false, x, y, target, bytes, kind}, nullptr); });
}

TF_EXPORT hipError_t hipMemcpyFromArray_spt(void* target, hipArray_const_t source, size_t x, size_t y,
                                            size_t bytes, hipMemcpyKind kind) {
  return api([&] {
    return copy_array_bytes({source, false, x, y, target, bytes, kind}, hipStreamPerThread);
  });
}

hipError_t hipMemcpyHtoA(hipArray* target, size_t offset, const void* source, size_t bytes) {
  return api([&] { return copy_array_line(target, true, offset, source, bytes); });
}

hipError_t hipMemcpyAtoH(void* target, hipArray* source, size_t offset, size_t bytes) {
  return api([&] { return copy_array_line(source, false, offset, target, bytes); });
}

}  // extern "C"
