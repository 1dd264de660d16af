// SPDX-License-Identifier: Apache-2.0
// HIP's parameters as the driver wants them. Pure functions; any thread.
//
// Where a conversion checks, its errors are those of AMD's runtime. In copies both ends are given by address
// ("unified"); the driver finds out itself what memory it is.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hipcore/graph/work.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// Copies, also those of a graph's nodes. hipErrorInvalidValue where slices are not whole rows apart.
hipError_t convert_copy(driver::Copy3D& copy, const graph::CopyWork& work);
// REQUIRES: depth 1
driver::Copy2D convert_rows(const graph::CopyWork& work);
driver::FillNode convert_fill(const graph::FillWork& work);

// A launch's packed arguments in the driver's words, valid as long as this object and what it was made from.
class LaunchExtra {
 public:
  // `extra` is HIP's list {POINTER, p, SIZE, &n, END}, in any order, or null for none.
  hipError_t read(void** extra);
  void** get() { return has_ ? list_ : nullptr; }

 private:
  bool has_ = false;
  void* list_[5] = {};
};

// What to wait for where HIP masks the word first. hipErrorNotSupported where the driver cannot.
hipError_t mask_wait_value(std::uint64_t& value, unsigned condition, std::uint64_t mask, std::uint64_t all);

driver::AllocationProperties convert(const hipMemAllocationProp& properties);
hipMemAllocationProp convert_back(const driver::AllocationProperties& properties);
driver::PoolProperties convert(const hipMemPoolProps& properties);
std::vector<driver::AccessDescription> convert(std::span<const hipMemAccessDesc> wishes);

}  // namespace tf::cuda
