// SPDX-License-Identifier: Apache-2.0
// Converts the parameters of HIP's row and box copies to one type, for client and runtimes. Pure functions;
// any thread. For hipMemcpy3DParms see read_copy().
//
// hipErrorInvalidPitchValue: rows overlap. hipErrorInvalidValue: they do in a driver-style copy; the box is
// not inside its rows and slices; there is no such array, or it is no end of this kind of copy. REQUIRES: the
// box is not empty
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <vector>

#include "hipcore/abi/driver_copy.h"
#include "hipcore/array/place.h"
#include "hipcore/graph/work.h"

namespace tf::graph {

hipError_t read_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, CopyWork& work);
hipError_t read_parameters(const abi::DriverCopy& parameters, const array::Finder& arrays, CopyWork& work);

// The functions that name an array and memory. hipErrorInvalidHandle: no array.
struct ArrayRows {
  hipArray_const_t array = nullptr;
  bool to_array = false;
  std::size_t x = 0;  // bytes
  std::size_t y = 0;
  const void* memory = nullptr;
  std::size_t pitch = 0;
  std::size_t width = 0;  // bytes
  std::size_t height = 0;
  hipMemcpyKind kind = hipMemcpyDefault;
};
hipError_t read_array_rows(const ArrayRows& rows, const array::Finder& arrays, CopyWork& work);
// `bytes` that follow each other in memory, and in the array row by row from (x, y) on: up to three boxes, in
// their order. hipMemcpyToArray and hipMemcpyFromArray; AMD's runtime has them for whole rows only.
struct ArrayBytes {
  hipArray_const_t array = nullptr;
  bool to_array = false;
  std::size_t x = 0;
  std::size_t y = 0;
  const void* memory = nullptr;
  std::size_t bytes = 0;
  hipMemcpyKind kind = hipMemcpyDefault;
};
hipError_t read_array_bytes(const ArrayBytes& bytes, const array::Finder& arrays,
                            std::vector<CopyWork>& works);

}  // namespace tf::graph
