// SPDX-License-Identifier: Apache-2.0
// Converts HIP's parameters of row and box copies to the graph library's type. Pure functions; any thread.
// For hipMemcpy3DParms see graph::read_copy().
//
// hipErrorInvalidPitchValue: rows overlap; hipErrorInvalidValue: as the driver-style copies say that, and for
// a box that is not inside its rows and slices; hipErrorNotSupported: arrays. REQUIRES: no side of the box is
// 0
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "hipcore/graph/work.h"

namespace tf::runtime {

hipError_t read_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, graph::CopyWork& work);
hipError_t read_parameters(const hip_Memcpy2D& parameters, graph::CopyWork& work);
hipError_t read_parameters(const HIP_MEMCPY3D& parameters, graph::CopyWork& work);

}  // namespace tf::runtime
