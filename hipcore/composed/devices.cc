// SPDX-License-Identifier: Apache-2.0
// Devices: their flags and numbers by ordinal. Formats of channels, and what of them fits into a texture of
// linear memory.
#include "hipcore/composed/composed.h"

using namespace tf::composed;

TF_COMPOSED hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// AMD's runtime takes the attribute for bytes (ROCm/clr, hipamd/src/hip_device_runtime.cpp).
TF_COMPOSED hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t* width,
                                                           const hipChannelFormatDesc* channels, int device) {
  if (width == nullptr || channels == nullptr) return refuse(hipErrorInvalidValue);
  const int element_bytes = (channels->x + channels->y + channels->z + channels->w) / 8;
  int bytes = 0;
  const hipError_t error = hipDeviceGetAttribute(&bytes, hipDeviceAttributeMaxTexture1DLinear, device);
  if (error != hipSuccess) return error;
  if (element_bytes <= 0) return refuse(hipErrorInvalidValue);
  *width = static_cast<size_t>(bytes / element_bytes);
  return hipSuccess;
}

// The thread's device stays the one that it is.
TF_COMPOSED hipError_t hipInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  if (const hipError_t error = check_device(device)) return error;
  if (flags != 0 && flags != hipInitDeviceFlagsAreValid) return refuse(hipErrorInvalidValue);
  if (flags == 0) return hipSuccess;
  const CurrentDevice current(device);
  return current.error() == hipSuccess ? hipSetDeviceFlags(device_flags) : current.error();
}

// A number that Windows gives its adapters.
TF_COMPOSED hipError_t hipDeviceGetLuid(char* luid, unsigned int* node_mask, hipDevice_t device) {
  if (luid == nullptr || node_mask == nullptr) return refuse(hipErrorInvalidValue);
  if (const hipError_t error = check_device(device)) return error;
  return refuse(hipErrorNotSupported);
}
