// SPDX-License-Identifier: Apache-2.0
// Advice on memory, and queries of it.
#include "worker/runtime/common/api.h"

using namespace tf::runtime;

extern "C" {

hipError_t hipMemPrefetchAsync(const void* pointer, size_t bytes, int device, hipStream_t handle) {
  return api([&] {
    Backend::Stream stream{};
    const hipError_t status = Backend::find_stream(handle, stream);
    return status == hipSuccess ? Backend::prefetch(pointer, bytes, device, stream) : status;
  });
}

hipError_t hipMemAdvise(const void* pointer, size_t bytes, hipMemoryAdvise advice, int device) {
  return api([&] { return Backend::advise(pointer, bytes, advice, device); });
}

hipError_t hipMemRangeGetAttribute(void* data, size_t data_bytes, hipMemRangeAttribute attribute,
                                   const void* pointer, size_t bytes) {
  return api([&] { return Backend::range_attribute(data, data_bytes, attribute, pointer, bytes); });
}

hipError_t hipMemRangeGetAttributes(void** data, size_t* data_bytes, hipMemRangeAttribute* attributes,
                                    size_t count, const void* pointer, size_t bytes) {
  return api([&] { return Backend::range_attributes(data, data_bytes, attributes, count, pointer, bytes); });
}

}  // extern "C"
