# SPDX-License-Identifier: Apache-2.0
"""Programs that driver_test.py compiles."""
HEAD = '#include <hip/hip_runtime.h>\n#include <cstdio>\n'
MAIN = HEAD + '''
#ifndef VALUE
#define VALUE 7
#endif
__global__ void fill(int* out) { out[threadIdx.x] = VALUE + threadIdx.x; }
int main() {
  int *device, host[4] = {};
  if (hipMalloc(&device, sizeof host) != hipSuccess) return 2;
  fill<<<1, 4>>>(device);
  if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  std::printf("%d %d\\n", host[0], host[3]);
  return 0;
}
'''

# 1 + 2^-11 lies between two halves, and goes to the even one; three times as much goes up.
HALVES = '''
#include <hip/hip_fp16.h>
void show(__half value) { std::printf("%g\\n", static_cast<double>(static_cast<float>(value))); }
int main() {
  const __half a(1.5f), b(2.0f), one(1.0f), little(0.00048828125f);
  show(a + b); show(a - b); show(a * b); show(a / b); show(-(a + b));
  __half c = a;
  c += b; c -= b; show(++c); show(--c);
  show(one + little); show(one + (little + little + little));
  std::printf("%d%d%d%d%d%d\\n", a == a, a != b, a < b, b > a, a <= a, b >= a);
  const __half2 pair(a, b);
  __half2 d = pair + __half2(b, b);
  show(__low2half(d)); show(__high2half(d)); show(__low2half(-pair)); ++d; d -= __half2(b, b); show(__low2half(d));
  std::printf("%d%d%d\\n", pair == pair, pair < __half2(b, b), pair <= __half2(b, b));
}
'''

# As with the vendor's compiler, kernels have the C library's functions before HIP's headers say so, and its memory.
MATHEMATICS = '''
#include <cmath>
#include <cstdlib>
template <typename T>
__host__ __device__ T both(T x) { return expf(x) + std::sqrt(x) + std::abs(-x); }
static __device__ float alone(float x) { return sinf(x) + floorf(x); }
static __device__ int held(int x) {
  int* memory = static_cast<int*>(std::malloc(sizeof(int)));
  *memory = x;
  x = *memory;
  std::free(memory);
  return x;
}
''' + HEAD + '''
__global__ void fill(float* out) { *out = both(0.0f) + alone(0.0f) * held(3); }
int main() {
  float *device, host = 0;
  if (hipMalloc(&device, sizeof host) != hipSuccess) return 2;
  fill<<<1, 1>>>(device);
  if (hipMemcpy(&host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  std::printf("%g %g\\n", host, both(0.0f));
  return 0;
}
'''
