// SPDX-License-Identifier: Apache-2.0
// Copies of rows and boxes: turns every form of the API into a graph::CopyWork. Arrays are not supported.
#include "hipcore/abi/layouts.h"
#include "hipcore/graph/box_forms.h"
#include "worker/runtime/common/api.h"
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
  if (!valid_kind(kind)) return hipErrorInvalidMemcpyDirection;
  return copy(width == 0 || height == 0, stream, wait, Backend::copy_rows, [&](graph::CopyWork& work) {
    return graph::read_rows(target, target_pitch, source, source_pitch, width, height, kind, work);
  });
}

hipError_t copy_3d(const hipMemcpy3DParms* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (!valid_kind(p->kind)) return hipErrorInvalidMemcpyDirection;
  if (p->srcArray || p->dstArray) return hipErrorNotSupported;
  const bool is_empty = p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0;
  return copy(is_empty, stream, wait, Backend::copy_box,
              [&](graph::CopyWork& work) { return graph::read_copy(*p, work); });
}

// `Parameters`: hip_Memcpy2D or HIP_MEMCPY3D, as the program's major has them.
template <typename Parameters>
hipError_t copy_parameters(const Parameters* theirs, hipStream_t stream, Wait wait) {
  if (!theirs) return hipErrorInvalidValue;
  const abi::DriverCopy p = abi::from_program(*theirs);
  const auto make = p.depth == 1 ? Backend::copy_rows : Backend::copy_box;
  return copy(p.width == 0 || p.height == 0 || p.depth == 0, stream, wait, make,
              [&](graph::CopyWork& work) { return graph::read_parameters(p, work); });
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

}  // extern "C"
