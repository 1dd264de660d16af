// SPDX-License-Identifier: Apache-2.0
// Converts the parameters of HIP's row and box copies to one type, for client and runtimes. Pure functions;
// any thread. For hipMemcpy3DParms see read_copy().
//
// hipErrorInvalidPitchValue: rows overlap. hipErrorInvalidValue: they do in a driver-style copy; the box is
// not inside its rows and slices. hipErrorNotSupported: arrays. REQUIRES: the box is not empty
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "hipcore/abi/driver_copy.h"
#include "hipcore/graph/work.h"

namespace tf::graph {

hipError_t read_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, CopyWork& work);
hipError_t read_parameters(const abi::DriverCopy& parameters, CopyWork& work);

}  // namespace tf::graph
