// SPDX-License-Identifier: Apache-2.0
// Texture references of a module, and a kernel that reads them; texture_module_test.cc binds them.
#include <hip/hip_runtime.h>

#include "texture_kernels.h"

texture<float, hipTextureType1D, hipReadModeElementType> module_line;
texture<float, hipTextureType2D, hipReadModeElementType> module_plane;
texture<float, hipTextureType2D, hipReadModeElementType> module_levels;
__device__ int module_number;

extern "C" __global__ void read_module(const tf::api_test::Coordinate* at, float* line, float* plane, float* levels) {
  const auto& c = at[threadIdx.x];
  line[threadIdx.x] = tex1Dfetch(module_line, static_cast<int>(c.x));
  plane[threadIdx.x] = tex2D(module_plane, c.x, c.y);
#ifndef PLAIN_IMAGES  // gfx90a has no instructions for levels of detail
  levels[threadIdx.x] = tex2DLod(module_levels, c.x, c.y, c.level);
#endif
  module_number = 1;
}
