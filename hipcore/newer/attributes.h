// SPDX-License-Identifier: Apache-2.0
// Device attributes since HIP 5.3. A release adds numbers at the end of the two ranges, and never moves one.
#pragma once

#include <hip/hip_runtime_api.h>

inline constexpr auto hipDeviceAttributeVirtualMemoryManagementSupported =
    static_cast<hipDeviceAttribute_t>(hipDeviceAttributeMemoryPoolsSupported + 1);
inline constexpr auto hipDeviceAttributeHostRegisterSupported =
    static_cast<hipDeviceAttribute_t>(hipDeviceAttributeMemoryPoolsSupported + 2);
inline constexpr auto
    hipDeviceAttributeMemoryPoolSupportedHandleTypes =  // bits of hipMemAllocationHandleType
    static_cast<hipDeviceAttribute_t>(hipDeviceAttributeMemoryPoolsSupported + 3);
inline constexpr auto hipDeviceAttributeHostNumaId =  // -1 where a device is near no single node
    static_cast<hipDeviceAttribute_t>(hipDeviceAttributeMemoryPoolsSupported + 4);
inline constexpr auto hipDeviceAttributeWallClockRate =  // of wall_clock64() in kernels, in kHz
    static_cast<hipDeviceAttribute_t>(hipDeviceAttributeFineGrainSupport + 1);
inline constexpr auto hipDeviceAttributeNumberOfXccs =
    static_cast<hipDeviceAttribute_t>(hipDeviceAttributeFineGrainSupport + 2);
