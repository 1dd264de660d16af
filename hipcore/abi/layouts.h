// SPDX-License-Identifier: Apache-2.0
// What the majors lay out or number in different ways under one name: converted where a call enters, and
// where its answer leaves. Inside, everything is as in the headers this tree is compiled with (HIP 5.2), or
// in a type of ours. Pure functions, any thread. Source: HIP's headers of 5.2.3, 6.4.3 and 7.2.4.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "hipcore/abi/driver_copy.h"

namespace tf::abi {

DriverCopy from_program(const hip_Memcpy2D& theirs);
// HIP_MEMCPY3D has 32-bit positions and lengths in HIP 5, and size_t since 6.0. What does not fit is cut off.
DriverCopy from_program(const HIP_MEMCPY3D& theirs);
void to_program(const DriverCopy& ours, HIP_MEMCPY3D& theirs);

// hipMemoryType as the program numbers it. Managed memory has a type of its own since 6.0.
int memory_type_number(MemoryType type, bool is_managed);
// Writes it. An enumerator of ours could not hold the number.
void set_memory_type(hipPointerAttribute_t& attributes, MemoryType type, bool is_managed);

// Nodes of graphs that HIP 5.2 has no hipGraphNodeType for.
inline constexpr int kNodeMemoryAllocation = 34;
inline constexpr int kNodeMemoryFree = 35;
inline constexpr int kNodeBatch = 36;
inline constexpr int kNodeSignalSemaphores = 37;
inline constexpr int kNodeWaitForSemaphores = 38;

// hipGraphNodeType as the program numbers it: HIP 5.2 counts from 1, 6.0 from 0. `ours`: of 5.2, or one of
// the above.
int node_type_number(int ours);
// The other way. -1: no type of a node.
int node_type_of(int number);
// The type that a function has found, renumbered where it stands. Returns `status`.
hipError_t with_number(hipError_t status, hipGraphNodeType* type);

// What hipDrvGraph*Memset* point to: HIP_MEMSET_NODE_PARAMS until 6.4, hipMemsetParams since 7.0.
hipMemsetParams driver_fill_from_program(const void* theirs);

}  // namespace tf::abi
