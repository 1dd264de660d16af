// SPDX-License-Identifier: Apache-2.0
// Kernels of the executor's test: one for each thing that a CPU code object has to get right.
#include <assert.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

struct Mixed {
  int a;
  char b;
  double c;
};
struct Big {
  int values[40];
};
struct alignas(16) Aligned {
  float x;
};
struct One {
  short value;
};

__constant__ float coefficients[4];
__device__ int counter = 5;
__device__ unsigned long long total;

__device__ __noinline__ float helper(float x, Big b) { return sinf(x) + static_cast<float>(b.values[39]); }

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void every_argument(bool flag, Mixed m, short s, char c, double* out, size_t n,
                                          float3 f, One one, Aligned q, Big big, float4 f4, long long wide,
                                          __half h) {
  if (threadIdx.x != 0) return;
  const double values[] = {flag ? 1.0 : 0.0,
                           double(m.a),
                           double(m.b),
                           m.c,
                           double(s),
                           double(c),
                           double(n),
                           f.x,
                           f.y,
                           f.z,
                           double(one.value),
                           q.x,
                           double(big.values[0]),
                           double(big.values[39]),
                           f4.x,
                           f4.w,
                           double(wide),
                           double(__half2float(h)),
                           helper(0.0f, big)};
  for (unsigned i = 0; i < sizeof values / sizeof values[0]; ++i) out[i] = values[i];
}

extern "C" __global__ void where_am_i(unsigned* out) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * threads + thread] = block * 10000 + thread;
}

// Shared memory, static and dynamic, and barriers: every block reverses its part, then adds its first
// element.
extern "C" __global__ void __launch_bounds__(256) reverse(const int* in, int* out) {
  __shared__ int tile[256];
  extern __shared__ int first[];
  const int base = static_cast<int>(blockIdx.x * blockDim.x), t = static_cast<int>(threadIdx.x);
  tile[t] = in[base + t];
  if (t == 0) first[0] = in[base];
  __syncthreads();
  out[base + t] = tile[blockDim.x - 1 - t] + first[0];
}

template <typename T>
__device__ T block_sum(T value) {
  __shared__ T parts[16];
  for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_down(value, step);
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / warpSize] = value;
  __syncthreads();
  T sum = 0;
  for (unsigned w = 0; w < (blockDim.x + warpSize - 1) / warpSize; ++w) sum += parts[w];
  return sum;
}
template <typename T>
__global__ void sum(const T* in, T* out) {
  const T all = block_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}
template __global__ void sum<int>(const int*, int*);
template __global__ void sum<double>(const double*, double*);

extern "C" __device__ unsigned long long __ockl_steadyctr_u64();  // wall_clock64() of newer headers
extern "C" __global__ void clocks(unsigned long long* out) {
  out[0] = wall_clock64();
  out[1] = __ockl_steadyctr_u64();
  out[2] = wall_clock64();
}

// clock64() between readings of the other clock, before and after some of its time has passed.
extern "C" __global__ void two_clocks(long long* wall, long long* ticks, long long wait) {
  wall[0] = wall_clock64();
  ticks[0] = clock64();
  wall[1] = wall_clock64();
  do {
    wall[2] = wall_clock64();
  } while (wall[2] - wall[1] < wait);
  ticks[1] = clock64();
  wall[3] = wall_clock64();
}

extern "C" __global__ void atomics(int* i, float* f, double* d, unsigned* u) {
  atomicAdd(i, 1);
  atomicAdd(f, 1.0f);
  atomicAdd(d, 0.5);
  atomicMax(&u[0], threadIdx.x);
  atomicMin(&u[1], threadIdx.x);
  atomicInc(&u[2], 6);
  atomicOr(&u[3], 1u << (threadIdx.x % 32));
  int seen = counter, expected;
  do {
    expected = seen;
    seen = atomicCAS(&counter, expected, expected + 2);
  } while (seen != expected);
  atomicAdd(&total, 1ull);
}

extern "C" __global__ void use_constants(float* out) { out[threadIdx.x] = coefficients[threadIdx.x] * 2.0f; }

// Lanes diverge, exchange among themselves, and meet again.
extern "C" __global__ void waves(unsigned* out, unsigned long long* votes) {
  const unsigned t = threadIdx.x;
  unsigned value = t;
  if (t % 2 == 0) {
    value = __shfl_xor(t, 2);
  } else {
    value = 1000 + __shfl(t, 5);
  }
  out[t] = value;
  votes[t] = __ballot(t % 3 == 0);
  out[blockDim.x + t] = __any(t == 7) + 2 * __all(t < 1000) + 4 * __syncthreads_or(t == 9) +
                        8 * (__syncthreads_count(t < 10) == 10);
}

extern "C" __global__ void half_math(const float* in, float* out) {
  const __half h = __float2half(in[threadIdx.x]);
  out[threadIdx.x] = __half2float(hsqrt(h) + __float2half(1.0f));
}

// By way of double, whose conversion is a function of its own.
extern "C" __global__ void half_of_double(const double* in, float* out) {
  out[threadIdx.x] = static_cast<float>(static_cast<_Float16>(in[threadIdx.x]));
}

extern "C" __global__ void print(int x) {
  if (threadIdx.x < 2)
    printf("kernel %d: %s %5.2f %c %ld 100%%\n", x + int(threadIdx.x), "text", 1.5, 'z', -7L);
}

extern "C" __global__ void count_printed(int* out) {
  out[0] = printf("none\n");
  out[1] = printf("%d %s\n", 42, "text");
  out[2] = printf("%5d%%\n", 7);
}

extern "C" __global__ void fails(int* out, int which) {
  out[0] = 1;
  assert(int(threadIdx.x) != which);
  __syncthreads();
}

extern "C" __global__ void fails_plainly(int which) {
  if (int(threadIdx.x) == which) __builtin_trap();
}

extern "C" __global__ void writes_at(int* where, int which) {
  if (int(threadIdx.x) == which) *where = 1;
}

extern "C" __global__ void writes_at_behind_a_barrier(int* where, int which) {
  __syncthreads();
  if (int(threadIdx.x) == which) *where = 1;
  __syncthreads();
}

extern "C" __global__ void frees(int* memory, int which) {
  free(int(threadIdx.x) == which ? memory : nullptr);
}

extern "C" __global__ void frees_behind_a_barrier(int* memory, int which) {
  __syncthreads();
  if (int(threadIdx.x) == which) free(memory);
  __syncthreads();
}

// Overloads that take anything are functions with any number of arguments.
__device__ __noinline__ int first_of(int first, ...) { return first; }
extern "C" __global__ void takes_any_number(int* out) {
  out[threadIdx.x] = first_of(int(threadIdx.x), 1, 2.0, out);
}

extern "C" __global__ void divides(int* out, int by) { out[threadIdx.x] = int(threadIdx.x) / by; }

// Every block reads what its neighbour wrote before all of them met.
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void grid_shift(unsigned* data, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  data[i] = i;
  cooperative_groups::this_grid().sync();
  out[i] = data[(i + blockDim.x) % n];
}

// Every thread keeps a stack until all have met; twice, so that none is used again before.
extern "C" __global__ void meet(unsigned* out) {
  __shared__ unsigned places[1024];
  const unsigned t = threadIdx.x, n = blockDim.x;
  places[t] = t;
  __syncthreads();
  const unsigned other = places[n - 1 - t];
  __syncthreads();
  out[blockIdx.x * n + t] = other;
}

// Needs about 1 KiB of stack for each level.
__device__ __noinline__ unsigned descend(unsigned levels) {
  volatile unsigned frame[256];
  frame[levels % 256] = levels;
  return levels == 0 ? 0 : descend(levels - 1) + frame[levels % 256];
}
extern "C" __global__ void recurse(unsigned* out, unsigned levels) {
  const unsigned sum = descend(threadIdx.x == 3 ? levels : 1);
  __syncthreads();
  out[threadIdx.x] = sum;
}
// Near zeros of the functions. Two numbers each: the argument, and room for the answer.
extern "C" __global__ void near_zeros(double* d) {
  d[1] = j0(d[0]);
  d[3] = y1(d[2]);
  d[5] = static_cast<double>(j0f(static_cast<float>(d[4])));
}

extern "C" __global__ void recurse_alone(unsigned* out, unsigned levels) { out[threadIdx.x] = descend(levels); }
