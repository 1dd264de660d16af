// SPDX-License-Identifier: Apache-2.0
// Copies between arrays, and of lines to and from them (HIP 6.2).
#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

// hipErrorInvalidHandle: no array.
hipError_t element_bytes(hipArray_const_t array, std::size_t& bytes) {
  hipChannelFormatDesc elements{};
  const hipError_t error = hipGetChannelDesc(&elements, array);
  if (error == hipSuccess)
    bytes = static_cast<std::size_t>(elements.x + elements.y + elements.z + elements.w) / 8;
  return error;
}

struct ArrayRegion {
  hipArray_t array;
  std::size_t x;  // bytes
  std::size_t y;
};

// The same rows of both; the width is in bytes.
hipError_t between_arrays(const ArrayRegion& target, const ArrayRegion& source, std::size_t width,
                          std::size_t height) {
  std::size_t element = 0;
  std::size_t of_source = 0;
  hipError_t error = element_bytes(target.array, element);
  if (error == hipSuccess) error = element_bytes(source.array, of_source);
  if (error != hipSuccess) return error;
  const bool whole = target.x % element == 0 && source.x % element == 0 && width % element == 0;
  if (element != of_source || !whole) return refuse(hipErrorInvalidValue);
  hipMemcpy3DParms copy{};
  copy.srcArray = source.array;
  copy.srcPos = {source.x / element, source.y, 0};
  copy.dstArray = target.array;
  copy.dstPos = {target.x / element, target.y, 0};
  copy.extent = {width / element, height, 1};
  copy.kind = hipMemcpyDeviceToDevice;
  return hipMemcpy3D(&copy);
}

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;  // NOLINT: these are C functions

TF_COMPOSED hipError_t hipMemcpy2DArrayToArray(hipArray_t target, size_t target_x, size_t target_y,
                                               hipArray_const_t source, size_t source_x, size_t source_y,
                                               size_t width, size_t height, hipMemcpyKind kind) {
  const bool fits = kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDefault ||
                    static_cast<int>(kind) == kHipMemcpyDeviceToDeviceNoCU;
  if (!fits)
    return refuse(kind > hipMemcpyDefault ? hipErrorInvalidMemcpyDirection : hipErrorInvalidValue);
  return between_arrays({target, target_x, target_y}, {const_cast<hipArray_t>(source), source_x, source_y},
                        width, height);
}

// Of the first rows only, as in AMD's runtime.
TF_COMPOSED hipError_t hipMemcpyAtoA(hipArray_t target, size_t target_offset, hipArray_t source,
                                     size_t source_offset, size_t bytes) {
  if (target == nullptr || source == nullptr) return refuse(hipErrorInvalidValue);
  return between_arrays({target, target_offset, 0}, {source, source_offset, 0}, bytes, 1);
}

TF_COMPOSED hipError_t hipMemcpyAtoD(hipDeviceptr_t target, hipArray_t source, size_t offset, size_t bytes) {
  if (target == nullptr || source == nullptr) return refuse(hipErrorInvalidValue);
  return hipMemcpy2DFromArray(target, bytes, source, offset, 0, bytes, 1, hipMemcpyDeviceToDevice);
}

TF_COMPOSED hipError_t hipMemcpyDtoA(hipArray_t target, size_t offset, hipDeviceptr_t source, size_t bytes) {
  if (target == nullptr || source == nullptr) return refuse(hipErrorInvalidValue);
  return hipMemcpy2DToArray(target, offset, 0, source, bytes, bytes, 1, hipMemcpyDeviceToDevice);
}

TF_COMPOSED hipError_t hipMemcpyAtoHAsync(void* target, hipArray_t source, size_t offset, size_t bytes,
                                          hipStream_t stream) {
  if (target == nullptr || source == nullptr) return refuse(hipErrorInvalidValue);
  return hipMemcpy2DFromArrayAsync(target, bytes, source, offset, 0, bytes, 1, hipMemcpyDeviceToHost, stream);
}

TF_COMPOSED hipError_t hipMemcpyHtoAAsync(hipArray_t target, size_t offset, const void* source, size_t bytes,
                                          hipStream_t stream) {
  if (target == nullptr || source == nullptr) return refuse(hipErrorInvalidValue);
  return hipMemcpy2DToArrayAsync(target, offset, 0, source, bytes, bytes, 1, hipMemcpyHostToDevice, stream);
}
