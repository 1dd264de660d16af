// SPDX-License-Identifier: Apache-2.0
// Kernels that allocate: malloc, free, new and delete. heap_test.cc says what they are for.
#include <hip/hip_runtime.h>
#include <stdlib.h>

#include <cstdlib>

#include "kernels.h"

namespace {

struct Shape {
  __device__ virtual int corners() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __device__ int corners() const override { return 4; }
};
struct Triangle : Shape {
  __device__ explicit Triangle(int* ended) : ended_(ended) {}
  __device__ int corners() const override { return 3; }
  __device__ ~Triangle() override { atomicAdd(ended_, 1); }

 private:
  int* ended_;
};

__global__ void allocate_each(int** kept, size_t bytes, int value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  kept[i] = static_cast<int*>(malloc(bytes));
  if (kept[i]) kept[i][bytes / sizeof(int) - 1] = value + i;
}
__global__ void read_each(int* const* kept, size_t bytes, int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = kept[i] ? kept[i][bytes / sizeof(int) - 1] : -1;
}
__global__ void free_each(int** kept) { std::free(kept[blockIdx.x * blockDim.x + threadIdx.x]); }

// Each block: one thread allocates, all write, another one adds up and frees.
__global__ void allocate_for_all(int* out) {
  __shared__ int* values;
  if (threadIdx.x == 0) values = new int[blockDim.x];
  __syncthreads();
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x != blockDim.x - 1) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += values[i];
  out[blockIdx.x] = sum;
  delete[] values;
}
__global__ void make_shapes(int* corners, int* ended) {
  Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<Shape*>(new Square) : new Triangle(ended);
  corners[threadIdx.x] = shape->corners();
  delete shape;
}
__global__ void free_wrongly(int* memory) { free(memory); }

}  // namespace

namespace tf::api_test {

void launch_allocate_each(int** kept, size_t bytes, int value, int blocks, int threads) {
  allocate_each<<<blocks, threads>>>(kept, bytes, value);
}
void launch_read_each(int* const* kept, size_t bytes, int* out, int blocks, int threads) {
  read_each<<<blocks, threads>>>(kept, bytes, out);
}
void launch_free_each(int** kept, int blocks, int threads) { free_each<<<blocks, threads>>>(kept); }
void launch_allocate_for_all(int* out, int blocks, int threads) { allocate_for_all<<<blocks, threads>>>(out); }
void launch_make_shapes(int* corners, int* ended, int threads) {
  make_shapes<<<1, threads>>>(corners, ended);
}
void launch_free_wrongly(int* memory, hipStream_t stream) { free_wrongly<<<1, 1, 0, stream>>>(memory); }

}  // namespace tf::api_test
