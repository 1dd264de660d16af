// SPDX-License-Identifier: Apache-2.0
// Copies of rows and boxes.
#include "hipcore/memory/copy_kind.h"
#include "worker/runtime/cuda/arrays.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/copy.h"

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

hipError_t hand_over(const driver::Copy2D& copy, hipStream_t stream, Wait wait) {
  return wait == Wait::kYes ? settle(cu().Memcpy2DUnaligned(&copy))
                            : check(cu().Memcpy2DAsync(&copy, stream));
}

hipError_t hand_over(const driver::Copy3D& copy, hipStream_t stream, Wait wait) {
  return wait == Wait::kYes ? settle(cu().Memcpy3D(&copy)) : check(cu().Memcpy3DAsync(&copy, stream));
}

}  // namespace

bool kind_fits(const graph::CopyWork& copy) {
  const auto is_known = [](const graph::BoxSide* end) {
    return array::is_name(end->address) || !is_pageable(end->memory());
  };
  return hipdata::kind_fits(&copy.target, &copy.source, copy.kind, is_known);
}

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

hipError_t convert_named(driver::Copy3D& copy, const graph::Box& box) {
  const auto target = named_arrays().find(box.target.address);
  const auto source = named_arrays().find(box.source.address);
  return convert_copy(copy, box, target ? &*target : nullptr, source ? &*source : nullptr);
}

hipError_t Backend::copy_rows(const graph::CopyWork& box, Stream stream, Wait wait) {
  if (array::is_name(box.target.address) || array::is_name(box.source.address))
    return copy_box(box, stream, wait);
  if (!box.is_line() && !kind_fits(box)) return hipErrorInvalidValue;
  driver::Copy2D copy = convert_rows(box);
  tell_pageable(copy);
  return hand_over(copy, stream, wait);
}

hipError_t Backend::copy_box(const graph::CopyWork& box, Stream stream, Wait wait) {
  if (!box.is_line() && !kind_fits(box)) return hipErrorInvalidValue;
  driver::Copy3D copy;
  if (const hipError_t status = convert_named(copy, box)) return status;
  tell_pageable(copy);
  return hand_over(copy, stream, wait);
}

}  // namespace tf::cuda
