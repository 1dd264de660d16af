// SPDX-License-Identifier: Apache-2.0
// Copies to and from the device, pinned and pageable, beside memcpy (same host) or a raw TCP stream.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/raw_limits.h"
#include "benchmarks/raw_tcp.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::uint64_t kSizes[] = {4096, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30};
constexpr std::uint64_t kQuickSizes[] = {4096, 1 << 20, 64 << 20};

struct Buffer {
  explicit Buffer(std::uint64_t byte_count, bool use_pinned) : bytes(byte_count), pinned(use_pinned) {
    if (pinned) {
      TF_CHECK(hipHostMalloc(&memory, bytes, hipHostMallocDefault));
    } else {
      memory = std::aligned_alloc(4096, bytes);
      check(memory != nullptr ? hipSuccess : hipErrorOutOfMemory, "aligned_alloc");
    }
    std::memset(memory, 0x5a, bytes);  // touched: page faults are not what is measured
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (pinned) {
      (void)hipHostFree(memory);
    } else {
      std::free(memory);
    }
  }
  std::uint64_t bytes;
  bool pinned;
  void* memory = nullptr;
};

double gb_per_s(std::uint64_t bytes, double seconds) { return static_cast<double>(bytes) / seconds / 1e9; }

void add_copy(Context& context, const std::string& metric, std::uint64_t bytes, const Samples& samples,
              double limit) {
  context.add(metric, bytes, "GB/s", gb_per_s(bytes, samples.median()),
              gb_per_s(bytes, samples.quantile(0.99)), limit,
              context.over_tcp() ? "raw TCP stream" : "memcpy");
}

void copy_both_ways(Context& context, std::uint64_t bytes, bool pinned, double limit) {
  const std::string suffix = pinned ? "_pinned" : "_pageable";
  Buffer host(bytes, pinned);
  void* device = nullptr;
  TF_CHECK(hipMalloc(&device, bytes));
  const std::size_t count_max = bytes < (1 << 20) ? 20'000 : 200;
  auto up = [&] { TF_CHECK(hipMemcpy(device, host.memory, bytes, hipMemcpyHostToDevice)); };
  auto down = [&] { TF_CHECK(hipMemcpy(host.memory, device, bytes, hipMemcpyDeviceToHost)); };
  // The value must arrive, too: a pattern goes up, the buffer is cleared, the pattern comes down.
  auto* words = static_cast<std::uint64_t*>(host.memory);
  for (std::uint64_t index = 0; index < bytes / 8; ++index)
    words[index] = index * 0x9e3779b97f4a7c15U + bytes;
  up();
  std::memset(host.memory, 0, bytes);
  down();
  for (std::uint64_t index = 0; index < bytes / 8; ++index) {
    if (words[index] != index * 0x9e3779b97f4a7c15U + bytes)
      check(hipErrorUnknown, "copied data came back wrong");
  }
  // A pageable copy up may return before the device has the bytes: the synchronize is part of the price.
  add_copy(context, "h2d" + suffix, bytes,
           repeat(context.budget_s(), 3, count_max,
                  [&] {
                    up();
                    TF_CHECK(hipDeviceSynchronize());
                  }),
           limit);
  add_copy(context, "d2h" + suffix, bytes, repeat(context.budget_s(), 3, count_max, down), limit);
  TF_CHECK(hipFree(device));
}

}  // namespace

void measure_copies(Context& context) {
  if (!context.wants("h2d") && !context.wants("d2h")) return;
  std::vector<std::uint64_t> sizes(std::begin(kSizes), std::end(kSizes));
  if (context.options().quick) sizes.assign(std::begin(kQuickSizes), std::end(kQuickSizes));
  for (std::uint64_t bytes : sizes) {
    if (bytes > context.options().bytes_max) continue;
    const double limit = context.over_tcp() ? raw_tcp_stream_gb_per_s(bytes, context.budget_s())
                                            : raw_memcpy_gb_per_s(bytes, context.budget_s());
    copy_both_ways(context, bytes, true, limit);
    copy_both_ways(context, bytes, false, limit);
  }
}

}  // namespace tf::bench
