// SPDX-License-Identifier: Apache-2.0
// What texture_test.cc and its kernels share.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::api_test {

enum class Reading {
  k1D,
  k2D,
  k3D,
  k1DLayered,
  k2DLayered,
  kCubemap,
  kCubemapLayered,
  k2DLod,
  k1DGrad,
  k2DGrad,
  k3DGrad,
  kFetch
};

// What a surface is of: x, y and z are those of its array.
enum class Geometry { k1D, k1DLayered, k2D, k2DLayered, k3D, kCubemap, kCubemapLayered };

// Of gradients `level` is the step to the next coordinate, along every axis.
struct Coordinate {
  float x = 0, y = 0, z = 0;
  int layer = 0;
  float level = 0;
};

// Four floats for each of `n` coordinates in device memory; of a texture with one channel the first counts.
void launch_read_texture(hipTextureObject_t texture, Reading how, bool four, const Coordinate* at, float* out,
                         int n);
// Four bytes as integers for each.
void launch_read_bytes(hipTextureObject_t texture, const Coordinate* at, int* out, int n);
void launch_gather(hipTextureObject_t texture, const Coordinate& at, float* out);
// The first element of a face, as the device library reads it from a cubemap of layers.
void launch_load_face(hipSurfaceObject_t surface, int layer, int face, float* out);
void launch_double_surface(hipSurfaceObject_t surface, int width, int height);
// Each element as the device library reads and writes it, and those next to the edges, which do not exist.
void launch_copy_surface(hipSurfaceObject_t from, hipSurfaceObject_t to, Geometry geometry, int width,
                         int height, int depth);

// Texture references: floats of linear memory, and bytes of a plane read as floats from 0 to 1. Up to 64
// coordinates, for both.
textureReference* line_texture();
textureReference* plane_texture();
void launch_read_references(const Coordinate* at, float* line, float* plane, int n);

}  // namespace tf::api_test
