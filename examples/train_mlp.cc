// SPDX-License-Identifier: Apache-2.0
// A small training loop: a network of two layers learns a function, with kernels that hiprtc compiles when
// the program starts. Prints the loss and, at the end, a checksum of the bits of all weights, which is the
// same natively and remotely; how long a step takes goes to standard error.
//   train_mlp [HIDDEN [BATCH [STEPS]]]    neurons between the layers, samples of a step, steps
#include "check_rtc.h"
#include "numbers.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

static const char kSource[] = R"(
#define TILE 16
// c[m][n] = a[m][k] * b[k][n]; where rows and columns lie is up to the strides, so it also takes transposed ones.
extern "C" __global__ void matmul(const float* a, int a_row, int a_column, const float* b, int b_row, int b_column,
                                  float* c, int m, int n, int k) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0;
  for (int at = 0; at < k; at += TILE) {
    left[y][x] = row < m && at + x < k ? a[row * a_row + (at + x) * a_column] : 0.0f;
    right[y][x] = column < n && at + y < k ? b[(at + y) * b_row + column * b_column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
extern "C" __global__ void rectify(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && values[i] < 0) values[i] = 0;
}
extern "C" __global__ void rectify_back(float* gradient, const float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && values[i] <= 0) gradient[i] = 0;
}
// The gradient of the mean square, and each sample's share of it.
extern "C" __global__ void compare(const float* got, const float* wanted, float* gradient, float* loss, int samples,
                                   int width) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  float sum = 0;
  for (int i = sample * width; i < (sample + 1) * width; ++i) {
    const float difference = got[i] - wanted[i];
    gradient[i] = 2 * difference / (samples * width);
    sum += difference * difference;
  }
  loss[sample] = sum / (samples * width);
}
extern "C" __global__ void descend(float* weights, const float* gradient, float rate, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) weights[i] -= rate * gradient[i];
}
)";

// A matrix on the device, row after row.
struct Matrix {
  float* data = nullptr;
  int rows = 0, columns = 0;

  Matrix(int rows_, int columns_) : rows(rows_), columns(columns_) {
    CHECK(hipMalloc(reinterpret_cast<void**>(&data), bytes()));
  }
  ~Matrix() { (void)hipFree(data); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  int count() const { return rows * columns; }
  std::size_t bytes() const { return sizeof(float) * static_cast<std::size_t>(count()); }
  void set(const std::vector<float>& values) {
    CHECK(hipMemcpy(data, values.data(), bytes(), hipMemcpyHostToDevice));
  }
  std::vector<float> get() const {
    std::vector<float> values(static_cast<std::size_t>(count()));
    CHECK(hipMemcpy(values.data(), data, bytes(), hipMemcpyDeviceToHost));
    return values;
  }
};

struct View {  // of a matrix, perhaps transposed
  const float* data;
  int rows, columns, row, column;
};
static View of(const Matrix& m) { return {m.data, m.rows, m.columns, m.columns, 1}; }
static View transposed(const Matrix& m) { return {m.data, m.columns, m.rows, 1, m.columns}; }

class Kernels {
 public:
  Kernels() {
    const std::vector<char> code = compile(kSource, "train_mlp.hip");
    CHECK(hipModuleLoadData(&module_, code.data()));
    CHECK(hipModuleGetFunction(&matmul_, module_, "matmul"));
    CHECK(hipModuleGetFunction(&rectify_, module_, "rectify"));
    CHECK(hipModuleGetFunction(&rectify_back_, module_, "rectify_back"));
    CHECK(hipModuleGetFunction(&compare_, module_, "compare"));
    CHECK(hipModuleGetFunction(&descend_, module_, "descend"));
  }
  ~Kernels() { (void)hipModuleUnload(module_); }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  void multiply(View a, View b, Matrix& c) {
    const unsigned tile = 16;
    void* arguments[] = {&a.data,   &a.row,  &a.column, &b.data,    &b.row,
                         &b.column, &c.data, &c.rows,   &c.columns, &a.columns};
    CHECK(hipModuleLaunchKernel(matmul_, (static_cast<unsigned>(c.columns) + tile - 1) / tile,
                                (static_cast<unsigned>(c.rows) + tile - 1) / tile, 1, tile, tile, 1, 0,
                                nullptr, arguments, nullptr));
  }
  void rectify(Matrix& values) {
    int count = values.count();
    void* arguments[] = {&values.data, &count};
    each(rectify_, count, arguments);
  }
  void rectify_back(Matrix& gradient, const Matrix& values) {
    int count = gradient.count();
    const float* data = values.data;
    void* arguments[] = {&gradient.data, &data, &count};
    each(rectify_back_, count, arguments);
  }
  void compare(const Matrix& got, const Matrix& wanted, Matrix& gradient, Matrix& loss) {
    const float *got_data = got.data, *wanted_data = wanted.data;
    int samples = got.rows, width = got.columns;
    void* arguments[] = {&got_data, &wanted_data, &gradient.data, &loss.data, &samples, &width};
    each(compare_, samples, arguments);
  }
  void descend(Matrix& weights, const Matrix& gradient, float rate) {
    int count = weights.count();
    const float* data = gradient.data;
    void* arguments[] = {&weights.data, &data, &rate, &count};
    each(descend_, count, arguments);
  }

 private:
  static void each(hipFunction_t kernel, int count, void** arguments) {
    const unsigned block = 128;
    CHECK(hipModuleLaunchKernel(kernel, (static_cast<unsigned>(count) + block - 1) / block, 1, 1, block, 1, 1,
                                0, nullptr, arguments, nullptr));
  }
  hipModule_t module_ = nullptr;
  hipFunction_t matmul_ = nullptr, rectify_ = nullptr, rectify_back_ = nullptr, compare_ = nullptr,
                descend_ = nullptr;
};

int main(int argc, char** argv) {
  const auto option = [&](int index, int usual) { return argc > index ? std::atoi(argv[index]) : usual; };
  const int inputs = 32, outputs = 8;
  const int hidden = option(1, 64), batch = option(2, 64), steps = option(3, 40);
  if (hidden <= 0 || batch <= 0 || steps <= 1) {
    std::fprintf(stderr, "usage: train_mlp [HIDDEN [BATCH [STEPS]]], each at least 1, STEPS at least 2\n");
    return 2;
  }
  Kernels kernels;
  Matrix x(batch, inputs), wanted(batch, outputs), w1(inputs, hidden), w2(hidden, outputs);
  Matrix h(batch, hidden), y(batch, outputs), dy(batch, outputs), dh(batch, hidden);
  Matrix dw1(inputs, hidden), dw2(hidden, outputs), loss(batch, 1);
  w1.set(numbers(w1.count(), 1, 1.0f / std::sqrt(static_cast<float>(inputs))));
  w2.set(numbers(w2.count(), 2, 1.0f / std::sqrt(static_cast<float>(hidden))));
  x.set(numbers(x.count(), 3, 1));
  wanted.set(numbers(wanted.count(), 4, 0.5f));

  float first = 0, last = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < steps; ++step) {
    kernels.multiply(of(x), of(w1), h);
    kernels.rectify(h);
    kernels.multiply(of(h), of(w2), y);
    kernels.compare(y, wanted, dy, loss);
    kernels.multiply(transposed(h), of(dy), dw2);
    kernels.multiply(of(dy), transposed(w2), dh);
    kernels.rectify_back(dh, h);
    kernels.multiply(transposed(x), of(dh), dw1);
    kernels.descend(w2, dw2, 0.2f);
    kernels.descend(w1, dw1, 0.2f);
    last = 0;
    for (const float share : loss.get()) last += share;
    if (step == 0) first = last;
    if (step == 0 || step + 1 == steps) std::printf("step %d: loss %.9g\n", step, static_cast<double>(last));
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "%.1f us a step\n", took.count() / steps);
  std::printf("weights %016llx\n", static_cast<unsigned long long>(checksum(w2.get(), checksum(w1.get()))));
  return verdict(last < first ? 0 : 1, 1);
}
