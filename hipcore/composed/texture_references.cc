// SPDX-License-Identifier: Apache-2.0
// What texture references are bound to (HIP 6).
#include "hipcore/composed/composed.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tf::composed {
namespace {

hipError_t read_resource(const textureReference* reference, hipResourceDesc& resource) {
  return hipGetTextureObjectResourceDesc(&resource, reference->textureObject);
}

hipError_t get_mipmapped(hipMipmappedArray_t* mipmapped, const textureReference* reference) {
  hipResourceDesc resource{};
  if (mipmapped == nullptr || reference == nullptr) return refuse(hipErrorInvalidValue);
  if (const hipError_t error = read_resource(reference, resource); error != hipSuccess) return error;
  if (resource.resType != hipResourceTypeMipmappedArray) return refuse(hipErrorInvalidValue);
  *mipmapped = resource.res.mipmap.mipmap;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;  // NOLINT: these are C functions

TF_COMPOSED hipError_t hipTexRefGetArray(hipArray_t* array, const textureReference* reference) {
  hipResourceDesc resource{};
  if (array == nullptr || reference == nullptr) return refuse(hipErrorInvalidValue);
  if (const hipError_t error = read_resource(reference, resource); error != hipSuccess) return error;
  if (resource.resType != hipResourceTypeArray) return refuse(hipErrorInvalidValue);
  *array = resource.res.array.array;
  return hipSuccess;
}

TF_COMPOSED hipError_t hipTexRefGetMipMappedArray(hipMipmappedArray_t* mipmapped,
                                                  const textureReference* reference) {
  return get_mipmapped(mipmapped, reference);
}

// As HIP 6 spells it too.
TF_COMPOSED hipError_t hipTexRefGetMipmappedArray(hipMipmappedArray_t* mipmapped,
                                                  const textureReference* reference) {
  return get_mipmapped(mipmapped, reference);
}

// The struct has no room for a color.
TF_COMPOSED hipError_t hipTexRefGetBorderColor(float* color, const textureReference* reference) {
  return refuse(color == nullptr || reference == nullptr ? hipErrorInvalidValue : hipErrorNotSupported);
}
