// SPDX-License-Identifier: Apache-2.0
// Copies and kernels on several streams, ordered and timed by events; a last stream waits for all of them.
#include "check.h"

#include <hip/hip_runtime.h>

#include <vector>

__global__ void polish(float* data, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = data[i];
  for (int round = 0; round < rounds; ++round) value = value * 0.5f + 1.0f;
  data[i] = value;
}

__global__ void total(const float* data, float* out, int parts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int part = 0; part < parts; ++part) sum += data[part * n + i];
  out[i] = sum;
}

int main() {
  const int streams = 4, n = 1 << 16, rounds = 64;
  float *host = nullptr, *device = nullptr, *sums = nullptr;
  CHECK(hipHostMalloc(&host, streams * n * sizeof(float)));
  CHECK(hipMalloc(&device, streams * n * sizeof(float)));
  CHECK(hipMalloc(&sums, n * sizeof(float)));
  for (int i = 0; i < streams * n; ++i) host[i] = static_cast<float>(i % 128);

  std::vector<hipStream_t> stream(streams + 1);
  std::vector<hipEvent_t> begin(streams), end(streams);
  for (auto& s : stream) CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
  for (int s = 0; s < streams; ++s) {
    float* part = device + s * n;
    CHECK(hipEventCreate(&begin[s]));
    CHECK(hipEventCreate(&end[s]));
    CHECK(hipEventRecord(begin[s], stream[s]));
    CHECK(hipMemcpyAsync(part, host + s * n, n * sizeof(float), hipMemcpyHostToDevice, stream[s]));
    polish<<<(n + 255) / 256, 256, 0, stream[s]>>>(part, n, rounds);
    CHECK(hipEventRecord(end[s], stream[s]));
    CHECK(hipStreamWaitEvent(stream[streams], end[s], 0));
  }
  total<<<(n + 255) / 256, 256, 0, stream[streams]>>>(device, sums, streams, n);
  std::vector<float> result(n);
  CHECK(hipMemcpyAsync(result.data(), sums, n * sizeof(float), hipMemcpyDeviceToHost, stream[streams]));
  CHECK(hipStreamSynchronize(stream[streams]));

  long wrong = 0;
  for (int s = 0; s < streams; ++s) {
    float milliseconds = -1;
    CHECK(hipEventElapsedTime(&milliseconds, begin[s], end[s]));
    std::printf("stream %d: %.3f ms\n", s, milliseconds);
    wrong += milliseconds < 0;
  }
  for (int i = 0; i < n; ++i) {
    float expected = 0;
    for (int s = 0; s < streams; ++s) {
      float value = host[s * n + i];
      for (int round = 0; round < rounds; ++round) value = value * 0.5f + 1.0f;
      expected += value;
    }
    wrong += result[i] != expected;
  }
  for (int s = 0; s < streams; ++s) {
    CHECK(hipEventDestroy(begin[s]));
    CHECK(hipEventDestroy(end[s]));
  }
  for (auto& s : stream) CHECK(hipStreamDestroy(s));
  CHECK(hipHostFree(host));
  CHECK(hipFree(device));
  CHECK(hipFree(sums));
  return verdict(wrong, n);
}
