// SPDX-License-Identifier: Apache-2.0
// Functions of HIP that are other functions of HIP: written once, over the public API of the library that
// they are linked into (the client, or a runtime), so that they behave the same in all. Each becomes a call
// of the functions it is made of, which check what they get and keep the thread's last error; what is refused
// here is kept by refuse().
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "hipcore/newer/hip_types.h"

extern "C" hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x,
                                                       unsigned int grid_y, unsigned int grid_z,
                                                       unsigned int block_x, unsigned int block_y,
                                                       unsigned int block_z, unsigned int shared_bytes,
                                                       hipStream_t stream, void** arguments);

extern "C" hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
extern "C" hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* id);

#define TF_COMPOSED extern "C" __attribute__((visibility("default")))

namespace tf::composed {

// Keeps `error` as the thread's last error, and returns it. The library defines it.
hipError_t refuse(hipError_t error);

// Offset and size, in bytes, of an explicit argument of a loaded kernel. hipErrorInvalidValue: it has fewer.
// The library defines it.
hipError_t get_parameter(hipFunction_t function, size_t index, size_t& offset, size_t& bytes);

// Makes a stream of the thread's device whose kernels use the units of the mask, as far as the runtime lets
// them. The library defines it.
hipError_t create_masked_stream(hipStream_t& stream, unsigned flags, int priority, size_t words,
                                const std::uint32_t* mask);

// From now on the library logs what that level and mask of AMD's runtime have it log. The library defines it.
void log_calls(size_t level, size_t mask);
inline constexpr size_t kLogErrors = 1;  // a level, and all above
inline constexpr size_t kLogCalls = 3;
inline constexpr size_t kLogCallsBit = 1;  // of a mask

// Calls body(); what it throws for lack of memory becomes HIP's error.
template <typename Body>
hipError_t guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return refuse(hipErrorOutOfMemory);
  }
}

// The device number of HIP's older functions. False: a location that is neither a device nor the host.
inline bool device_of(const hipMemLocation& location, int& device) {
  switch (static_cast<int>(location.type)) {
    case hipMemLocationTypeDevice: device = location.id; return true;
    case kHipMemLocationTypeHost:
    case kHipMemLocationTypeHostNuma:
    case kHipMemLocationTypeHostNumaCurrent: device = hipCpuDeviceId; return true;
    default: return false;
  }
}

// Success, or what HIP answers for a device that is none.
inline hipError_t check_device(int device) {
  int count = 0;
  if (const hipError_t error = hipGetDeviceCount(&count)) return error;
  return device >= 0 && device < count ? hipSuccess : refuse(hipErrorInvalidDevice);
}

// Makes a device the thread's, for the life of this object.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) : error_(hipGetDevice(&before_)) {
    if (error_ == hipSuccess && device != before_) error_ = hipSetDevice(device);
    is_changed_ = error_ == hipSuccess && device != before_;
  }
  ~CurrentDevice() {
    if (is_changed_) (void)hipSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  // hipErrorInvalidDevice: there is no such device.
  hipError_t error() const { return error_; }

 private:
  int before_ = 0;
  hipError_t error_;
  bool is_changed_ = false;
};

}  // namespace tf::composed
