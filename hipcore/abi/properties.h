// SPDX-License-Identifier: Apache-2.0
// Device properties in the form that HIP has had since 6.0 (hipDeviceProp_tR0600), made of those of HIP 5 and
// of the device's attributes. Programs of every major may ask for both forms. Pure functions.
#pragma once

#include <functional>

#include "hipcore/newer/hip_types.h"

namespace tf::abi {

// The value of an attribute, 0 where the device has none.
using AttributeOf = std::function<int(hipDeviceAttribute_t)>;

void to_r0600(const hipDeviceProp_t& from, const AttributeOf& attribute, hipDeviceProp_tR0600& to);

// How many of the nonzero fields of `wish` the candidate meets; for hipChooseDevice. Properties: either form.
template <typename Properties>
int matches(const Properties& wish, const hipDeviceProp_t& candidate) {
  int met = 0;
  auto at_least = [&met](auto wanted, auto has) { met += wanted != 0 && has >= wanted ? 1 : 0; };
  at_least(wish.major, candidate.major);
  at_least(wish.minor, candidate.minor);
  at_least(wish.totalGlobalMem, candidate.totalGlobalMem);
  at_least(wish.sharedMemPerBlock, candidate.sharedMemPerBlock);
  at_least(wish.maxThreadsPerBlock, candidate.maxThreadsPerBlock);
  at_least(wish.totalConstMem, candidate.totalConstMem);
  at_least(wish.multiProcessorCount, candidate.multiProcessorCount);
  at_least(wish.maxThreadsPerMultiProcessor, candidate.maxThreadsPerMultiProcessor);
  at_least(wish.memoryClockRate, candidate.memoryClockRate);
  return met;
}

}  // namespace tf::abi
