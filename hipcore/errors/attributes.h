// SPDX-License-Identifier: Apache-2.0
// What HIP fixes of device attributes, beside their numbers.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::hipdata {

// hipDeviceGetAttribute answers with a pointer, eight bytes through its int*: the address of a register of
// AMD's host data path, null on a device that has none, and where no process of the host can reach it.
constexpr bool answers_a_pointer(int attribute) {
  return attribute == hipDeviceAttributeHdpMemFlushCntl || attribute == hipDeviceAttributeHdpRegFlushCntl;
}

inline void answer_no_pointer(int* value) { *reinterpret_cast<void**>(value) = nullptr; }

}  // namespace tf::hipdata
