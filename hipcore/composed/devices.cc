// SPDX-License-Identifier: Apache-2.0
// Formats of channels, and what of them fits into a texture of linear memory.
#include "hipcore/composed/composed.h"

using namespace tf::composed;

TF_COMPOSED hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// In elements, as the attribute that it is taken from.
TF_COMPOSED hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t* width,
                                                           const hipChannelFormatDesc* channels, int device) {
  if (width == nullptr || channels == nullptr) return refuse(hipErrorInvalidValue);
  if (channels->x + channels->y + channels->z + channels->w <= 0) return refuse(hipErrorInvalidValue);
  int elements = 0;
  const hipError_t error = hipDeviceGetAttribute(&elements, hipDeviceAttributeMaxTexture1DLinear, device);
  if (error == hipSuccess) *width = static_cast<size_t>(elements);
  return error;
}
