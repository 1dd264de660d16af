// SPDX-License-Identifier: Apache-2.0
// HIP's parameters as the driver wants them. Pure functions; any thread.
//
// Where a conversion checks, its errors are those of AMD's runtime. In copies both ends are given by address
// ("unified"); the driver finds out itself what memory it is.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "hipcore/graph/work.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

bool valid_kind(hipMemcpyKind kind);

// `width` bytes x `height` rows. hipErrorInvalidPitchValue where rows overlap.
hipError_t convert_rows(driver::Copy2D& copy, void* target, std::size_t target_pitch, const void* source,
                        std::size_t source_pitch, std::size_t width, std::size_t height);
hipError_t convert_box(driver::Copy3D& copy, const hipMemcpy3DParms& parameters);
hipError_t convert_driver_rows(driver::Copy2D& copy, const hip_Memcpy2D& parameters);
hipError_t convert_driver_box(driver::Copy3D& copy, const HIP_MEMCPY3D& parameters);
// The work of a graph's nodes. hipErrorInvalidValue where slices are not whole rows apart.
hipError_t convert_copy(driver::Copy3D& copy, const graph::CopyWork& work);
driver::FillNode convert_fill(const graph::FillWork& work);
// The way back, for captures. REQUIRES: both ends are given by address.
graph::CopyWork convert_back(const driver::Copy2D& copy, hipMemcpyKind kind);
graph::CopyWork convert_back(const driver::Copy3D& copy, hipMemcpyKind kind);

// A fill of a box: `count` fills of rows, each `slice` bytes after the one before.
struct FillPlan {
  std::size_t rows = 0;
  std::size_t count = 0;
  std::size_t slice = 0;
};
// hipErrorInvalidValue where the box is none.
hipError_t plan_fill(FillPlan& plan, const hipPitchedPtr& target, const hipExtent& extent);

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

}  // namespace tf::cuda
