// SPDX-License-Identifier: Apache-2.0
// What HIP defines about device attributes besides their numbers.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::hipdata {

// For these, hipDeviceGetAttribute returns a pointer, eight bytes through its int*: the address of a register
// of AMD's host data path. It is null on a device without one, and where no process on the host can reach it.
constexpr bool answers_a_pointer(int attribute) {
  return attribute == hipDeviceAttributeHdpMemFlushCntl || attribute == hipDeviceAttributeHdpRegFlushCntl;
}

inline void answer_no_pointer(int* value) { *reinterpret_cast<void**>(value) = nullptr; }

}  // namespace tf::hipdata
