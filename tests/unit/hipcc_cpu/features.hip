// SPDX-License-Identifier: Apache-2.0
// One kernel for each thing that PTX has its own words for; nvptx_test.py looks for them.
#include <assert.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <stdio.h>

struct Mixed {
  int a;
  char b;
  double c;
};

__constant__ float factor;
__device__ int counter = 7;
static __device__ int used_by_host = 3;
template <typename T>
__device__ T of_template = T(9);

// Keeps the name that the host knows it by.
hipError_t set(int value) { return hipMemcpyToSymbol(HIP_SYMBOL(used_by_host), &value, sizeof value); }

extern "C" __global__ void arguments(bool flag, Mixed m, short s, float3 f, __half h, double* out) {
  out[0] =
      flag + m.a + m.c + s + f.z + __half2float(__hadd(h, h)) + factor + of_template<float> + used_by_host;
}

extern "C" __global__ void __launch_bounds__(128) indices(unsigned* out) {
  out[0] = threadIdx.x + blockIdx.y + blockDim.z + gridDim.x + hipThreadIdx_z + warpSize;
}

extern "C" __global__ void shared(int* out) {
  __shared__ int fixed[32];
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = dynamic[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = fixed[threadIdx.x ^ 1] + dynamic[threadIdx.x ^ 2];
}

extern "C" __global__ void warps(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = __shfl(i, 3) + __shfl_xor(i, 1) + static_cast<int>(__ballot(i > 3)) + __any(i) + __all(i);
}

extern "C" __global__ void relaxed(int* i, unsigned long long* u, float* f, double* d) {
  i[1] = atomicAdd(i, 1) + atomicMin(i, 2) + atomicCAS(i, 1, 2) +
         static_cast<int>(atomicInc(&reinterpret_cast<unsigned*>(i)[2], 5));
  u[1] = atomicExch(u, 3ull) + atomicMax(u, 4ull);
  f[1] = atomicAdd(f, 1.0f);
  d[1] = atomicAdd(d, 1.0);
}

extern "C" __global__ void signs(long long* x) {
  x[1] = x[0] < 0 ? 7 : 0;
  x[2] = (x[0] >> 60) & 0xff;
  x[3] = (x[0] >> 40) & 0xff;
}

extern "C" __global__ void ordered(int* i, float* f) {
  i[1] = atomicAdd_system(i, 1);
  i[2] = __hip_atomic_fetch_add(i, 1, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
  i[3] = __hip_atomic_load(i, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_store(i, 5, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  i[4] = atomicCAS_system(i, 1, 2);
  f[1] = atomicAdd_system(f, 1.0f);
  __threadfence();
  __threadfence_system();
}

extern "C" __global__ void clocks(long long* out) {
  out[0] = clock64();
  out[1] = wall_clock64();
}

extern "C" __global__ void prints(int x) {
  for (int i = 0; i < x; ++i) printf("%d %s %f %c %ld\n", i, "text", 1.5, 'z', 7L);
  printf("none\n");
}

extern "C" __global__ void fails(int x) {
  assert(x > 3);
  if (x == 5) abort();
}

extern "C" __global__ void maths(float* f, double* d) {
  f[0] = sinf(f[1]) + expf(f[2]) + powf(f[3], f[4]) + tanhf(f[5]) + rsqrtf(f[6]) + __fdividef(f[7], f[8]);
  d[0] = sin(d[1]) + log(d[2]) + sqrt(d[3]) + floor(d[4]) + fma(d[5], d[6], d[7]) + erfc(d[8]) + tgamma(d[9]);
}

extern "C" __global__ void textures(hipTextureObject_t t, float x, int layer, float4* out) {
  out[0] = tex1D<float4>(t, x);
  out[1] = tex1Dfetch<float4>(t, layer);
  out[2] = tex1DLayered<float4>(t, x, layer);
  out[3] = tex2D<float4>(t, x, x);
  out[4] = tex2DLayered<float4>(t, x, x, layer);
  out[5] = tex3D<float4>(t, x, x, x);
  out[6] = texCubemap<float4>(t, x, x, x);
  out[7] = texCubemapLayered<float4>(t, x, x, x, layer);
  out[8] = tex2Dgather<float4>(t, x, x, 2);
  out[9] = tex1DLod<float4>(t, x, x);
  out[10] = tex2DLod<float4>(t, x, x, x);
  out[11] = tex3DLod<float4>(t, x, x, x, x);
  out[12] = texCubemapLod<float4>(t, x, x, x, x);
  out[13] = texCubemapLayeredLod<float4>(t, x, x, x, layer, x);
  out[14] = tex1DGrad<float4>(t, x, x, x);
  out[15] = tex2DGrad<float4>(t, x, x, make_float2(x, 0), make_float2(0, x));
  out[16] = tex3DGrad<float4>(t, x, x, x, make_float4(x, 0, 0, 0), make_float4(0, x, 0, 0));
  out[17] = tex1DLayeredGrad<float4>(t, x, layer, x, x);
  out[18] = tex2DLayeredGrad<float4>(t, x, x, layer, make_float2(x, 0), make_float2(0, x));
}

extern "C" __global__ void surfaces(hipSurfaceObject_t s, int at, int2 place, int4 deep) {
  auto* const i = (unsigned int ADDRESS_SPACE_CONSTANT*)s;  // as HIP's header does
  __ockl_image_store_1D(i, at, __ockl_image_load_1D(i, at + 1));
  __ockl_image_store_1Da(i, place.data, __ockl_image_load_1Da(i, place.data));
  __ockl_image_store_2D(i, place.data, __ockl_image_load_2D(i, place.data));
  __ockl_image_store_2Da(i, deep.data, __ockl_image_load_2Da(i, deep.data));
  __ockl_image_store_3D(i, deep.data, __ockl_image_load_3D(i, deep.data));
  __ockl_image_store_CM(i, place.data, at, __ockl_image_load_CM(i, place.data, at));
  __ockl_image_store_CMa(i, deep.data, at, __ockl_image_load_CMa(i, deep.data, at));
}
