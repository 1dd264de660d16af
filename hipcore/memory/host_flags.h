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
inline constexpr unsigned kPointerAttributesMax = 64;  // of one hipDrvPointerGetAttributes

}  // namespace tf::hipcore
