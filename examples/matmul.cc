// SPDX-License-Identifier: Apache-2.0
// A product of two square matrices by a kernel that hiprtc compiles when the program starts: up, multiply,
// down. Prints a checksum of the bits of the product, which is the same natively and remotely, and looks a
// few elements over; how long each part takes goes to standard error.
//   matmul [SIZE [TIMES]]    rows of each matrix, a multiple of 64; products
#include "check_rtc.h"
#include "numbers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

static const char kSource[] = R"(
#define TILE 64   // rows and columns of c that a block of 16 x 16 threads makes
#define DEPTH 16  // of a and b that it has in shared memory at a time
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int size) {
  __shared__ float left[DEPTH][TILE + 1];
  __shared__ float right[DEPTH][TILE + 1];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
  const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  float sums[4][4] = {};
  for (int at = 0; at < size; at += DEPTH) {
    for (int i = thread; i < TILE * DEPTH; i += 256) {
      left[i % DEPTH][i / DEPTH] = a[(size_t)(row + i / DEPTH) * size + at + i % DEPTH];
      right[i / TILE][i % TILE] = b[(size_t)(at + i / TILE) * size + column + i % TILE];
    }
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += left[k][y + 16 * i] * right[k][x + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(size_t)(row + y + 16 * i) * size + column + x + 16 * j] = sums[i][j];
}
)";

static const int kTile = 64;

class Stopwatch {
 public:
  double ms() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> took = now - start_;
    start_ = now;
    return took.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// How many of a few elements are wrong.
static long look_over(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                      std::size_t size) {
  long wrong = 0;
  for (std::size_t probe = 0; probe < size; ++probe) {
    const std::size_t row = probe * 7919 % size, column = probe * 104729 % size;
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) sum += double{a[row * size + k]} * double{b[k * size + column]};
    // Rounding errors of float, which grow with the terms; these are below 1.
    if (std::abs(sum - double{c[row * size + column]}) > 1e-6 * static_cast<double>(size)) ++wrong;
  }
  return wrong;
}

int main(int argc, char** argv) {
  int size = argc > 1 ? std::atoi(argv[1]) : 256;
  const int times = argc > 2 ? std::atoi(argv[2]) : 3;
  if (size <= 0 || size > 32768 || size % kTile != 0 || times <= 0) {
    std::fprintf(stderr,
                 "usage: matmul [SIZE [TIMES]], SIZE a multiple of 64 up to 32768, TIMES at least 1\n");
    return 2;
  }
  const std::vector<char> code = compile(kSource, "matmul.hip");
  hipModule_t module = nullptr;
  hipFunction_t multiply = nullptr;
  CHECK(hipModuleLoadData(&module, code.data()));
  CHECK(hipModuleGetFunction(&multiply, module, "multiply"));

  const std::vector<float> a = numbers(size * size, 1, 1), b = numbers(size * size, 2, 1);
  std::vector<float> c(a.size());
  const std::size_t bytes = sizeof(float) * a.size();
  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;
  for (float** matrix : {&device_a, &device_b, &device_c})
    CHECK(hipMalloc(reinterpret_cast<void**>(matrix), bytes));

  double best = 0;
  for (int turn = 0; turn < times; ++turn) {
    Stopwatch watch;
    CHECK(hipMemcpy(device_a, a.data(), bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(device_b, b.data(), bytes, hipMemcpyHostToDevice));
    CHECK(hipDeviceSynchronize());
    const double up = watch.ms();
    void* arguments[] = {&device_a, &device_b, &device_c, &size};
    const unsigned blocks = static_cast<unsigned>(size / kTile);
    CHECK(hipModuleLaunchKernel(multiply, blocks, blocks, 1, 16, 16, 1, 0, nullptr, arguments, nullptr));
    CHECK(hipDeviceSynchronize());
    const double product = watch.ms();
    CHECK(hipMemcpy(c.data(), device_c, bytes, hipMemcpyDeviceToHost));
    const double down = watch.ms();
    std::fprintf(stderr, "up %.3f ms, product %.3f ms, down %.3f ms\n", up, product, down);
    const double all = up + product + down;
    best = turn == 0 ? all : std::min(best, all);
  }
  std::fprintf(stderr, "best turn %.3f ms\n", best);
  std::printf("product %016llx\n", static_cast<unsigned long long>(checksum(c)));
  for (float* matrix : {device_a, device_b, device_c}) CHECK(hipFree(matrix));
  CHECK(hipModuleUnload(module));
  return verdict(look_over(a, b, c, static_cast<std::size_t>(size)), size);
}
