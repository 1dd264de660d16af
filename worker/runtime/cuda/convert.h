// SPDX-License-Identifier: Apache-2.0
// Converts HIP's parameters to the driver's. Pure functions; any thread.
//
// Checks return the errors of AMD's runtime. Copies give both ends by address ("unified"); the driver finds
// out what memory that is.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hipcore/graph/work.h"
#include "worker/runtime/cuda/arrays.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// Copies, also those of a graph's nodes. hipErrorInvalidValue if slices of memory are not a whole number of
// rows apart. `target`, `source`: the arrays that the box's addresses name; null: they are memory.
hipError_t convert_copy(driver::Copy3D& copy, const graph::Box& work, const NamedArray* target = nullptr,
                        const NamedArray* source = nullptr);
// REQUIRES: depth 1
driver::Copy2D convert_rows(const graph::CopyWork& work);
driver::FillNode convert_fill(const graph::FillWork& work);

// A launch's packed arguments in the driver's form, valid as long as this object and its source.
class LaunchExtra {
 public:
  // `extra` is HIP's list {POINTER, p, SIZE, &n, END}, in any order; null for no arguments.
  hipError_t read(void** extra);
  void** get() { return has_ ? list_ : nullptr; }

 private:
  bool has_ = false;
  void* list_[5] = {};
};

// The value to wait for if HIP masks the word first. hipErrorNotSupported if the driver cannot do it.
hipError_t mask_wait_value(std::uint64_t& value, unsigned condition, std::uint64_t mask, std::uint64_t all);

driver::AllocationProperties convert(const hipMemAllocationProp& properties);
hipMemAllocationProp convert_back(const driver::AllocationProperties& properties);
// `major`: of the HIP that the program was built for, whose structure it is.
driver::PoolProperties convert(const hipMemPoolProps& properties, unsigned major);
std::vector<driver::AccessDescription> convert(std::span<const hipMemAccessDesc> wishes);

}  // namespace tf::cuda
