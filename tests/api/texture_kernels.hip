// SPDX-License-Identifier: Apache-2.0
// Kernels that read textures and surfaces, one coordinate a thread; texture_test.cc knows what must come out.
#include <hip/hip_runtime.h>

#include "texture_kernels.h"

// gfx90a has no instructions for levels of detail and gradients, nor for gathering.
#ifdef PLAIN_IMAGES
#define HAS_LEVELS 0
#else
#define HAS_LEVELS 1
#endif

using tf::api_test::Coordinate;
using tf::api_test::Geometry;
using tf::api_test::Reading;

namespace {

__device__ float4 all(float value) { return make_float4(value, 0, 0, 0); }
__device__ float4 all(float4 value) { return value; }

}  // namespace

template <typename T>
__global__ void read_texture(hipTextureObject_t texture, Reading how, const Coordinate* at, float4* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const Coordinate c = at[i];
  switch (how) {
    case Reading::k1D: out[i] = all(tex1D<T>(texture, c.x)); break;
    case Reading::k2D: out[i] = all(tex2D<T>(texture, c.x, c.y)); break;
    case Reading::k3D: out[i] = all(tex3D<T>(texture, c.x, c.y, c.z)); break;
    case Reading::k1DLayered: out[i] = all(tex1DLayered<T>(texture, c.x, c.layer)); break;
    case Reading::k2DLayered: out[i] = all(tex2DLayered<T>(texture, c.x, c.y, c.layer)); break;
    case Reading::kCubemap: out[i] = all(texCubemap<T>(texture, c.x, c.y, c.z)); break;
    case Reading::kCubemapLayered: out[i] = all(texCubemapLayered<T>(texture, c.x, c.y, c.z, c.layer)); break;
    case Reading::kFetch: out[i] = all(tex1Dfetch<T>(texture, static_cast<int>(c.x))); break;
#if HAS_LEVELS
    case Reading::k1DGrad: out[i] = all(tex1DGrad<T>(texture, c.x, c.level, 0)); break;
    case Reading::k2DGrad:
      out[i] = all(tex2DGrad<T>(texture, c.x, c.y, make_float2(c.level, 0), make_float2(0, c.level)));
      break;
    case Reading::k3DGrad:
      out[i] = all(tex3DGrad<T>(texture, c.x, c.y, c.z, make_float4(c.level, 0, 0, 0),
                                make_float4(0, c.level, 0, 0)));
      break;
    case Reading::k2DLod: out[i] = all(tex2DLod<T>(texture, c.x, c.y, c.level)); break;
#endif
    default: break;
  }
}

__global__ void read_bytes(hipTextureObject_t texture, const Coordinate* at, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const uchar4 value = tex2D<uchar4>(texture, at[i].x, at[i].y);
  out[4 * i] = value.x;
  out[4 * i + 1] = value.y;
  out[4 * i + 2] = value.z;
  out[4 * i + 3] = value.w;
}

__global__ void gather_texture(hipTextureObject_t texture, Coordinate at, float4* out) {
#if HAS_LEVELS
  out[0] = tex2Dgather<float4>(texture, at.x, at.y, 1);  // HIP 5.2's header counts channels from 1
#endif
}

__global__ void load_face(hipSurfaceObject_t surface, int layer, int face, float* out) {
  auto* const image = (unsigned int ADDRESS_SPACE_CONSTANT*)surface;  // as HIP's header does
  out[0] = __ockl_image_load_CMa(image, int4(0, 0, layer, 0).data, face).x;
}

// Threads lie one around the surface on all sides.
__global__ void copy_surface(hipSurfaceObject_t from, hipSurfaceObject_t to, Geometry geometry) {
  auto* const source = (unsigned int ADDRESS_SPACE_CONSTANT*)from;  // as HIP's header does
  auto* const target = (unsigned int ADDRESS_SPACE_CONSTANT*)to;
  const int x = static_cast<int>(threadIdx.x) - 1, y = static_cast<int>(blockIdx.x) - 1,
            z = static_cast<int>(blockIdx.y) - 1;
  switch (geometry) {
    case Geometry::k1D: __ockl_image_store_1D(target, x, __ockl_image_load_1D(source, x)); break;
    case Geometry::k1DLayered: {
      const auto at = int2(x, z).data;
      __ockl_image_store_1Da(target, at, __ockl_image_load_1Da(source, at));
      break;
    }
    case Geometry::k2D: {
      const auto at = int2(x, y).data;
      __ockl_image_store_2D(target, at, __ockl_image_load_2D(source, at));
      break;
    }
    case Geometry::k2DLayered: {
      const auto at = int4(x, y, z, 0).data;
      __ockl_image_store_2Da(target, at, __ockl_image_load_2Da(source, at));
      break;
    }
    case Geometry::k3D: {
      const auto at = int4(x, y, z, 0).data;
      __ockl_image_store_3D(target, at, __ockl_image_load_3D(source, at));
      break;
    }
    case Geometry::kCubemap: {
      const auto at = int2(x, y).data;
      __ockl_image_store_CM(target, at, z, __ockl_image_load_CM(source, at, z));
      break;
    }
    case Geometry::kCubemapLayered: {
      const auto at = int4(x, y, z / 6, 0).data;
      if (z >= 0) __ockl_image_store_CMa(target, at, z % 6, __ockl_image_load_CMa(source, at, z % 6));
      break;
    }
  }
}

// Each element becomes twice what it was, and its place is added. HIP 5.2's header stores every type as floats.
__global__ void double_surface(hipSurfaceObject_t surface, int width, int height) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  if (x >= width || y >= height) return;
  float value = 0;
  surf2Dread(&value, surface, x * static_cast<int>(sizeof(float)), y);
  surf2Dwrite(2 * value + static_cast<float>(100 * y + x), surface, x * static_cast<int>(sizeof(float)), y);
}

texture<float, hipTextureType1D, hipReadModeElementType> line_reference;
texture<unsigned char, hipTextureType2D, hipReadModeNormalizedFloat> plane_reference;

__global__ void read_references(const Coordinate* at, float* line, float* plane, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  line[i] = tex1Dfetch(line_reference, static_cast<int>(at[i].x));
  plane[i] = tex2D(plane_reference, at[i].x, at[i].y);
}

namespace tf::api_test {

textureReference* line_texture() { return &line_reference; }
textureReference* plane_texture() { return &plane_reference; }

void launch_read_references(const Coordinate* at, float* line, float* plane, int n) {
  read_references<<<1, 64>>>(at, line, plane, n);
}

void launch_read_texture(hipTextureObject_t texture, Reading how, bool four, const Coordinate* at, float* out,
                         int n) {
  auto* const values = reinterpret_cast<float4*>(out);
  const dim3 blocks((static_cast<unsigned>(n) + 63) / 64);
  if (four)
    read_texture<float4><<<blocks, 64>>>(texture, how, at, values, n);
  else
    read_texture<float><<<blocks, 64>>>(texture, how, at, values, n);
}

void launch_read_bytes(hipTextureObject_t texture, const Coordinate* at, int* out, int n) {
  read_bytes<<<(static_cast<unsigned>(n) + 63) / 64, 64>>>(texture, at, out, n);
}

void launch_gather(hipTextureObject_t texture, const Coordinate& at, float* out) {
  gather_texture<<<1, 1>>>(texture, at, reinterpret_cast<float4*>(out));
}

void launch_load_face(hipSurfaceObject_t surface, int layer, int face, float* out) {
  load_face<<<1, 1>>>(surface, layer, face, out);
}

void launch_double_surface(hipSurfaceObject_t surface, int width, int height) {
  double_surface<<<static_cast<unsigned>(height), static_cast<unsigned>(width)>>>(surface, width, height);
}

void launch_copy_surface(hipSurfaceObject_t from, hipSurfaceObject_t to, Geometry geometry, int width, int height,
                         int depth) {
  const dim3 blocks(static_cast<unsigned>(height) + 2, static_cast<unsigned>(depth) + 2);
  copy_surface<<<blocks, static_cast<unsigned>(width) + 2>>>(from, to, geometry);
}

}  // namespace tf::api_test
