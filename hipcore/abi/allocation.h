// SPDX-License-Identifier: Apache-2.0
// hipMemAllocationProp by major: HIP 6.0 put its members in another order. Inside, all is as in the headers
// that this tree is compiled with. Pure, any thread. Source: HIP's headers of 5.2.3, 6.4.3 and 7.2.4.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstring>

namespace tf::abi {

struct AllocationSince6 {
  hipMemAllocationType type;
  hipMemAllocationHandleType handle_types;
  hipMemLocation location;
  void* win32_metadata;
  unsigned char compression;
  unsigned char gpu_direct_rdma_capable;
  unsigned short usage;
};
static_assert(sizeof(AllocationSince6) == sizeof(hipMemAllocationProp) && sizeof(AllocationSince6) == 32);

// What a program or runtime of `major` has at `theirs`.
inline hipMemAllocationProp allocation_from(unsigned major, const hipMemAllocationProp& theirs) {
  if (major < 6) return theirs;
  AllocationSince6 newer;
  std::memcpy(&newer, &theirs, sizeof newer);
  hipMemAllocationProp ours{};
  ours.compressionType = newer.compression;
  ours.location = newer.location;
  ours.requestedHandleType = newer.handle_types;
  ours.type = newer.type;
  ours.usage = newer.usage;
  ours.win32HandleMetaData = newer.win32_metadata;
  return ours;
}

// The same as a program or runtime of `major` has it.
inline hipMemAllocationProp allocation_for(unsigned major, const hipMemAllocationProp& ours) {
  if (major < 6) return ours;
  AllocationSince6 newer{};
  newer.type = ours.type;
  newer.handle_types = ours.requestedHandleType;
  newer.location = ours.location;
  newer.win32_metadata = ours.win32HandleMetaData;
  newer.compression = ours.compressionType;
  newer.usage = ours.usage;
  hipMemAllocationProp theirs;
  std::memcpy(&theirs, &newer, sizeof theirs);
  return theirs;
}

}  // namespace tf::abi
