// SPDX-License-Identifier: Apache-2.0
// Arrays and mipmapped arrays: the Backend has their memory.
#include "worker/runtime/common/arrays.h"

#include "hipcore/newer/hip_types.h"

#include "worker/runtime/common/api.h"
#include "worker/runtime/common/device.h"

namespace tf::runtime {
namespace {

class Arrays final : private array::Side {
 public:
  array::Library& library() { return library_; }

 private:
  hipError_t create(const array::Shape& shape, unsigned levels, bool mipmapped,
                    std::vector<array::Place>& places) override {
    return Backend::create_array(shape, levels, mipmapped, places);
  }
  hipError_t destroy(std::uint64_t base) override { return Backend::destroy_array(base); }

  array::Library library_{*this};
};

}  // namespace

array::Library& arrays() {
  static Arrays* const all = new Arrays;
  return all->library();
}

}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipMallocArray(hipArray** array, const hipChannelFormatDesc* elements, size_t width, size_t height,
                          unsigned int flags) {
  return unsafe_api([&] { return arrays().create(array, elements, {width, height, 0}, flags); });
}

hipError_t hipMalloc3DArray(hipArray** array, const hipChannelFormatDesc* elements, hipExtent extent,
                            unsigned int flags) {
  return unsafe_api([&] { return arrays().create(array, elements, extent, flags); });
}

hipError_t hipArrayCreate(hipArray** array, const HIP_ARRAY_DESCRIPTOR* description) {
  return unsafe_api([&] { return arrays().create(array, description); });
}

hipError_t hipArray3DCreate(hipArray** array, const HIP_ARRAY3D_DESCRIPTOR* description) {
  return unsafe_api([&] { return arrays().create(array, description); });
}

hipError_t hipFreeArray(hipArray* array) {
  return unsafe_api([&] { return arrays().destroy(array); });
}

hipError_t hipArrayDestroy(hipArray* array) {
  return unsafe_api([&] { return arrays().destroy(array); });
}

TF_EXPORT hipError_t hipArrayGetInfo(hipChannelFormatDesc* elements, hipExtent* extent, unsigned int* flags,
                                     hipArray* array) {
  return unsafe_api([&] { return arrays().get_info(elements, extent, flags, array); });
}

TF_EXPORT hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* description, hipArray* array) {
  return unsafe_api([&] { return arrays().get_description(description, array); });
}

TF_EXPORT hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* description, hipArray* array) {
  return unsafe_api([&] { return arrays().get_description(description, array); });
}

hipError_t hipGetChannelDesc(hipChannelFormatDesc* elements, hipArray_const_t array) {
  return api([&] { return arrays().get_channels(elements, array); });
}

hipError_t hipMallocMipmappedArray(hipMipmappedArray_t* mipmapped, const hipChannelFormatDesc* elements,
                                   hipExtent extent, unsigned int levels, unsigned int flags) {
  return unsafe_api([&] { return arrays().create_mipmapped(mipmapped, elements, extent, levels, flags); });
}

hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t* mipmapped, HIP_ARRAY3D_DESCRIPTOR* description,
                                   unsigned int levels) {
  return unsafe_api([&] { return arrays().create_mipmapped(mipmapped, description, levels); });
}

hipError_t hipFreeMipmappedArray(hipMipmappedArray_t mipmapped) {
  return unsafe_api([&] { return arrays().destroy_mipmapped(mipmapped); });
}

hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t mipmapped) {
  return unsafe_api([&] { return arrays().destroy_mipmapped(mipmapped); });
}

TF_EXPORT hipError_t hipMipmappedArrayGetMemoryRequirements(hipArrayMemoryRequirements* requirements,
                                                            hipMipmappedArray_t mipmapped,
                                                            hipDevice_t device) {
  return api([&] {
    if (!requirements) return hipErrorInvalidValue;
    if (!valid_device(device)) return hipErrorInvalidDevice;
    return arrays().get_requirements(&requirements->alignment, &requirements->size, mipmapped);
  });
}

hipError_t hipGetMipmappedArrayLevel(hipArray_t* array, hipMipmappedArray_const_t mipmapped,
                                     unsigned int level) {
  return unsafe_api([&] { return arrays().get_level(array, mipmapped, level); });
}

hipError_t hipMipmappedArrayGetLevel(hipArray_t* array, hipMipmappedArray_t mipmapped, unsigned int level) {
  return api([&] { return arrays().get_level(array, mipmapped, level); });
}

}  // extern "C"
