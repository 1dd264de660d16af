// SPDX-License-Identifier: Apache-2.0
// Arrays and mipmapped arrays: the books are the library's.
#include <utility>

#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

template <typename Body>
hipError_t with_arrays(ApiCall& call, Body&& body) {
  if (!call.connected()) return call.finish();
  return call.finish(body(call.client().arrays().library()));
}

template <typename Body>
hipError_t after_what_shows(ApiCall& call, Body&& body) {
  if (call.connected()) call.client().await_what_shows();
  return with_arrays(call, std::forward<Body>(body));
}

}  // namespace

hipError_t hipMallocArray(ApiCall& call, hipArray** array, const hipChannelFormatDesc* elements, size_t width,
                          size_t height, unsigned int flags) {
  return with_arrays(call, [&](array::Library& all) {
    return all.create(array, elements, {width, height, 0}, flags);
  });
}

hipError_t hipMalloc3DArray(ApiCall& call, hipArray** array, const hipChannelFormatDesc* elements,
                            hipExtent extent, unsigned int flags) {
  return with_arrays(call, [&](array::Library& all) { return all.create(array, elements, extent, flags); });
}

hipError_t hipArrayCreate(ApiCall& call, hipArray** array, const HIP_ARRAY_DESCRIPTOR* description) {
  return with_arrays(call, [&](array::Library& all) { return all.create(array, description); });
}

hipError_t hipArray3DCreate(ApiCall& call, hipArray** array, const HIP_ARRAY3D_DESCRIPTOR* description) {
  return with_arrays(call, [&](array::Library& all) { return all.create(array, description); });
}

hipError_t hipFreeArray(ApiCall& call, hipArray* array) {
  return after_what_shows(call, [&](array::Library& all) { return all.destroy(array); });
}

hipError_t hipArrayDestroy(ApiCall& call, hipArray* array) { return custom::hipFreeArray(call, array); }

hipError_t hipArrayGetInfo(ApiCall& call, hipChannelFormatDesc* elements, hipExtent* extent,
                           unsigned int* flags, hipArray* array) {
  return with_arrays(call, [&](array::Library& all) { return all.get_info(elements, extent, flags, array); });
}

hipError_t hipArrayGetDescriptor(ApiCall& call, HIP_ARRAY_DESCRIPTOR* description, hipArray* array) {
  return with_arrays(call, [&](array::Library& all) { return all.get_description(description, array); });
}

hipError_t hipArray3DGetDescriptor(ApiCall& call, HIP_ARRAY3D_DESCRIPTOR* description, hipArray* array) {
  return with_arrays(call, [&](array::Library& all) { return all.get_description(description, array); });
}

hipError_t hipGetChannelDesc(ApiCall& call, hipChannelFormatDesc* elements, hipArray_const_t array) {
  return with_arrays(call, [&](array::Library& all) { return all.get_channels(elements, array); });
}

hipError_t hipMallocMipmappedArray(ApiCall& call, hipMipmappedArray_t* mipmapped,
                                   const hipChannelFormatDesc* elements, hipExtent extent,
                                   unsigned int levels, unsigned int flags) {
  return with_arrays(call, [&](array::Library& all) {
    return all.create_mipmapped(mipmapped, elements, extent, levels, flags);
  });
}

hipError_t hipMipmappedArrayCreate(ApiCall& call, hipMipmappedArray_t* mipmapped,
                                   HIP_ARRAY3D_DESCRIPTOR* description, unsigned int levels) {
  return with_arrays(
      call, [&](array::Library& all) { return all.create_mipmapped(mipmapped, description, levels); });
}

hipError_t hipFreeMipmappedArray(ApiCall& call, hipMipmappedArray_t mipmapped) {
  return after_what_shows(call, [&](array::Library& all) { return all.destroy_mipmapped(mipmapped); });
}

hipError_t hipMipmappedArrayDestroy(ApiCall& call, hipMipmappedArray_t mipmapped) {
  return custom::hipFreeMipmappedArray(call, mipmapped);
}

hipError_t hipMipmappedArrayGetMemoryRequirements(ApiCall& call, hipArrayMemoryRequirements* requirements,
                                                  hipMipmappedArray_t mipmapped, hipDevice_t device) {
  if (requirements == nullptr) return call.finish(hipErrorInvalidValue);
  return with_arrays(call, [&](array::Library& all) {
    if (device < 0 || device >= call.client().device_count()) return hipErrorInvalidDevice;
    return all.get_requirements(&requirements->alignment, &requirements->size, mipmapped);
  });
}

hipError_t hipGetMipmappedArrayLevel(ApiCall& call, hipArray_t* array, hipMipmappedArray_const_t mipmapped,
                                     unsigned int level) {
  return with_arrays(call, [&](array::Library& all) { return all.get_level(array, mipmapped, level); });
}

hipError_t hipMipmappedArrayGetLevel(ApiCall& call, hipArray_t* array, hipMipmappedArray_t mipmapped,
                                     unsigned int level) {
  return custom::hipGetMipmappedArrayLevel(call, array, mipmapped, level);
}

}  // namespace tf::proxy::custom
