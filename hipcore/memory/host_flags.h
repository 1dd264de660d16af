// SPDX-License-Identifier: Apache-2.0
// What calls about host memory accept: the same from the client and from our runtimes.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::hipcore {

inline constexpr unsigned kHostMallocFlags = hipHostMallocPortable | hipHostMallocMapped |
                                             hipHostMallocWriteCombined | hipHostMallocNumaUser |
                                             hipHostMallocCoherent | hipHostMallocNonCoherent;
inline constexpr unsigned kHostRegisterFlags = hipHostRegisterPortable | hipHostRegisterMapped |
                                               hipHostRegisterIoMemory | hipExtHostRegisterCoarseGrained;
// Of programs since HIP 7: devices do not cache the memory. Here it is coherent memory.
inline constexpr unsigned kHostMallocUncached = 0x10000000;
inline constexpr unsigned kHostRegisterUncached = 0x80000000;

constexpr bool takes_malloc_flags(unsigned flags, unsigned major) {
  return (flags & ~(major >= 7 ? kHostMallocFlags | kHostMallocUncached : kHostMallocFlags)) == 0;
}
constexpr bool takes_register_flags(unsigned flags, unsigned major) {
  return (flags & ~(major >= 7 ? kHostRegisterFlags | kHostRegisterUncached : kHostRegisterFlags)) == 0;
}

inline constexpr unsigned kPointerAttributesMax = 64;  // of one hipDrvPointerGetAttributes

}  // namespace tf::hipcore
