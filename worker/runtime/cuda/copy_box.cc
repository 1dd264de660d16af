// SPDX-License-Identifier: Apache-2.0
// Copies of rows and boxes.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/copy.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {
namespace {

bool is_pageable(void* pointer) {
  unsigned type = 0;
  return cu().PointerGetAttribute(&type, driver::kPointerMemoryType, pointer) != driver::Result::SUCCESS;
}

bool is_on_host(void* pointer) {
  unsigned type = 0;
  const driver::Result result = cu().PointerGetAttribute(&type, driver::kPointerMemoryType, pointer);
  return result != driver::Result::SUCCESS || type == driver::kMemoryHost;
}

template <typename Copy>
void tell_pageable_ends(Copy& copy) {
  if (copy.source_type == driver::kMemoryUnified && is_pageable(copy.source_device)) {
    copy.source_type = driver::kMemoryHost;
    copy.source_host = copy.source_device;
  }
  if (copy.target_type == driver::kMemoryUnified && is_pageable(copy.target_device)) {
    copy.target_type = driver::kMemoryHost;
    copy.target_host = copy.target_device;
  }
}

driver::Result hand_over(const driver::Copy2D& copy, hipStream_t stream, Wait wait) {
  return wait == Wait::kYes ? settle(cu().Memcpy2DUnaligned(&copy)) : cu().Memcpy2DAsync(&copy, stream);
}

driver::Result hand_over(const driver::Copy3D& copy, hipStream_t stream, Wait wait) {
  return wait == Wait::kYes ? settle(cu().Memcpy3D(&copy)) : cu().Memcpy3DAsync(&copy, stream);
}

template <typename Copy>
hipError_t run(Copy& copy, hipStream_t stream, Wait wait, hipMemcpyKind kind = hipMemcpyDefault) {
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = capture(*library, stream, convert_back(copy, kind), wait)) return *verdict;
  tell_pageable(copy);
  return check(hand_over(copy, stream, wait));
}

hipError_t copy_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, hipStream_t stream,
                     Wait wait) {
  if (!valid_kind(kind)) return hipErrorInvalidMemcpyDirection;
  if (!is_stream(stream)) return kUnknownStream;
  if (width == 0 || height == 0) return hipSuccess;
  driver::Copy2D copy;
  const hipError_t status = convert_rows(copy, target, target_pitch, source, source_pitch, width, height);
  return status == hipSuccess ? run(copy, stream, wait, kind) : status;
}

hipError_t copy_3d(const hipMemcpy3DParms* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (!is_stream(stream)) return kUnknownStream;
  if (!valid_kind(p->kind)) return hipErrorInvalidMemcpyDirection;
  if (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0) return hipSuccess;
  driver::Copy3D copy;
  const hipError_t status = convert_box(copy, *p);
  return status == hipSuccess ? run(copy, stream, wait, p->kind) : status;
}

hipError_t copy_parameters(const hip_Memcpy2D* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (!is_stream(stream)) return kUnknownStream;
  if (p->WidthInBytes == 0 || p->Height == 0) return hipSuccess;
  driver::Copy2D copy;
  const hipError_t status = convert_driver_rows(copy, *p);
  return status == hipSuccess ? run(copy, stream, wait) : status;
}

hipError_t copy_parameters(const HIP_MEMCPY3D* p, hipStream_t stream, Wait wait) {
  if (!p) return hipErrorInvalidValue;
  if (!is_stream(stream)) return kUnknownStream;
  if (p->WidthInBytes == 0 || p->Height == 0 || p->Depth == 0) return hipSuccess;
  driver::Copy3D copy;
  const hipError_t status = convert_driver_box(copy, *p);
  return status == hipSuccess ? run(copy, stream, wait) : status;
}

}  // namespace

void tell_pageable(driver::Copy2D& copy) { tell_pageable_ends(copy); }
void tell_pageable(driver::Copy3D& copy) { tell_pageable_ends(copy); }

void tell_places(driver::Copy3D& copy) {
  if (copy.source_type == driver::kMemoryUnified) {
    copy.source_type = is_on_host(copy.source_device) ? driver::kMemoryHost : driver::kMemoryDevice;
    copy.source_host = copy.source_device;
  }
  if (copy.target_type == driver::kMemoryUnified) {
    copy.target_type = is_on_host(copy.target_device) ? driver::kMemoryHost : driver::kMemoryDevice;
    copy.target_host = copy.target_device;
  }
}

}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

#include "worker/runtime/common/copy_box_functions.inc"

}  // extern "C"
