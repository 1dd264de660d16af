// SPDX-License-Identifier: Apache-2.0
// Advice and prefetching by location instead of device, one by one and in batches (HIP 7).
#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

struct Ranges {
  void** addresses;
  size_t* bytes;
  size_t count;
};

// Each has a location: the last whose first range is this one or an earlier one.
struct Locations {
  const hipMemLocation* locations;
  const size_t* first;
  size_t count;
};

// The checks that all batches share, of managed memory only. `elsewhere`: for memory of another kind.
hipError_t check_ranges(const Ranges& ranges, unsigned long long flags, hipStream_t stream,
                        hipError_t elsewhere) {
  if (ranges.addresses == nullptr || ranges.bytes == nullptr || ranges.count == 0 || flags != 0 ||
      stream == nullptr)
    return hipErrorInvalidValue;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (const hipError_t error = hipStreamIsCapturing(stream, &status)) return error;
  if (status != hipStreamCaptureStatusNone) return hipErrorStreamCaptureUnsupported;
  for (size_t i = 0; i < ranges.count; ++i) {
    if (ranges.addresses[i] == nullptr || ranges.bytes[i] == 0) return hipErrorInvalidValue;
  }
  for (size_t i = 0; i < ranges.count; ++i) {
    hipPointerAttribute_t attributes{};
    hipDeviceptr_t base = nullptr;
    size_t bytes = 0;
    if (hipPointerGetAttributes(&attributes, ranges.addresses[i]) != hipSuccess ||
        attributes.isManaged == 0 || hipMemGetAddressRange(&base, &bytes, ranges.addresses[i]) != hipSuccess)
      return elsewhere;
    const auto offset =
        static_cast<size_t>(static_cast<char*>(ranges.addresses[i]) - static_cast<char*>(base));
    if (ranges.bytes[i] > bytes - offset) return hipErrorInvalidValue;
  }
  return hipSuccess;
}

hipError_t check_locations(const Locations& at, size_t ranges) {
  if (at.locations == nullptr || at.first == nullptr || at.count == 0 || at.count > ranges)
    return hipErrorInvalidValue;
  int devices = 0;
  if (const hipError_t error = hipGetDeviceCount(&devices)) return error;
  for (size_t i = 0; i < at.count; ++i) {
    if (i == 0 ? at.first[i] != 0 : at.first[i] <= at.first[i - 1] || at.first[i] >= ranges)
      return hipErrorInvalidValue;
    int device = 0;
    if (!device_of(at.locations[i], device)) return hipErrorInvalidValue;
    const bool is_device = at.locations[i].type == hipMemLocationTypeDevice;
    if (is_device && (device < 0 || device >= devices)) return hipErrorInvalidValue;
  }
  return hipSuccess;
}

// All is checked before the first range is fetched.
hipError_t prefetch(const Ranges& ranges, const Locations& at, unsigned long long flags, hipStream_t stream,
                    hipError_t elsewhere) {
  if (const hipError_t error = check_locations(at, ranges.count)) return refuse(error);
  if (const hipError_t error = check_ranges(ranges, flags, stream, elsewhere)) return refuse(error);
  size_t location = 0;
  for (size_t i = 0; i < ranges.count; ++i) {
    if (location + 1 < at.count && at.first[location + 1] <= i) ++location;
    int device = 0;
    (void)device_of(at.locations[location], device);
    if (const hipError_t error = hipMemPrefetchAsync(ranges.addresses[i], ranges.bytes[i], device, stream))
      return error;
  }
  return hipSuccess;
}

// A discarded range may have any contents; it keeps those that it has.
hipError_t discard(const Ranges& ranges, unsigned long long flags, hipStream_t stream) {
  const hipError_t error = check_ranges(ranges, flags, stream, hipErrorNotSupported);
  return error == hipSuccess ? hipSuccess : refuse(error);
}

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;

TF_COMPOSED hipError_t hipMemAdvise_v2(const void* pointer, size_t bytes, hipMemoryAdvise advice,
                                       hipMemLocation location) {
  int device = 0;
  return device_of(location, device) ? hipMemAdvise(pointer, bytes, advice, device)
                                     : refuse(hipErrorInvalidValue);
}

TF_COMPOSED hipError_t hipMemPrefetchAsync_v2(const void* pointer, size_t bytes, hipMemLocation location,
                                              unsigned int flags, hipStream_t stream) {
  int device = 0;
  if (flags != 0 || !device_of(location, device)) return refuse(hipErrorInvalidValue);
  return hipMemPrefetchAsync(pointer, bytes, device, stream);
}

TF_COMPOSED hipError_t hipMemPrefetchBatchAsync(void** addresses, size_t* bytes, size_t count,
                                                hipMemLocation* locations, size_t* first,
                                                size_t location_count, unsigned long long flags,
                                                hipStream_t stream) {
  return prefetch({addresses, bytes, count}, {locations, first, location_count}, flags, stream,
                  hipErrorInvalidValue);
}

TF_COMPOSED hipError_t hipMemDiscardBatchAsync(void** addresses, size_t* bytes, size_t count,
                                               unsigned long long flags, hipStream_t stream) {
  return discard({addresses, bytes, count}, flags, stream);
}

TF_COMPOSED hipError_t hipDrvMemDiscardBatchAsync(hipDeviceptr_t* addresses, size_t* bytes, size_t count,
                                                  unsigned long long flags, hipStream_t stream) {
  return discard({addresses, bytes, count}, flags, stream);
}

TF_COMPOSED hipError_t hipMemDiscardAndPrefetchBatchAsync(void** addresses, size_t* bytes, size_t count,
                                                          hipMemLocation* locations, size_t* first,
                                                          size_t location_count, unsigned long long flags,
                                                          hipStream_t stream) {
  return prefetch({addresses, bytes, count}, {locations, first, location_count}, flags, stream,
                  hipErrorNotSupported);
}

TF_COMPOSED hipError_t hipDrvMemDiscardAndPrefetchBatchAsync(hipDeviceptr_t* addresses, size_t* bytes,
                                                             size_t count, hipMemLocation* locations,
                                                             size_t* first, size_t location_count,
                                                             unsigned long long flags, hipStream_t stream) {
  return prefetch({addresses, bytes, count}, {locations, first, location_count}, flags, stream,
                  hipErrorNotSupported);
}
