// SPDX-License-Identifier: Apache-2.0
// Measures memcpy over the page sizes and mappings that transports use.
#include "benchmarks/transport_bench/memory.h"

#include <string>

#include "benchmarks/placement.h"
#include "benchmarks/raw_memory.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::uint64_t kSizes[] = {4096, 64 << 10, 1 << 20, 64 << 20, 1 << 30};
constexpr std::uint64_t kQuickBytesMax = 64 << 20;
constexpr int kRounds = 5;
// Addresses that differ in these bits only: some processors find a line in their first cache by a hash of
// lower bits, and take one for the other.
constexpr std::uint64_t kSourceAddress = 0x1100'0000'0000;
constexpr std::uint64_t kTargetAddress = 0x1200'0000'0000;

struct Ground {
  const char* name;
  Pages source;
  Pages target;
  std::uint64_t source_address = 0;
  std::uint64_t target_address = 0;
};

constexpr Ground kGrounds[] = {
    {"heap_heap", Pages::kHeap, Pages::kHeap},
    {"small_small", Pages::kSmall, Pages::kSmall},
    {"huge_huge", Pages::kHuge, Pages::kHuge},
    {"small_file", Pages::kSmall, Pages::kFile},
    {"file_small", Pages::kFile, Pages::kSmall},
    {"file_file", Pages::kFile, Pages::kFile},
    {"file_twin", Pages::kFile, Pages::kFile, kSourceAddress, kTargetAddress},
    {"file_shifted_twin", Pages::kFile, Pages::kFile, kSourceAddress + (170 << 20), kTargetAddress},
};

struct Pair {
  Pair(const Ground& ground, std::uint64_t bytes)
      : source(ground.source, bytes, ground.source_address),
        target(ground.target, bytes, ground.target_address) {}
  double gb_per_s(double budget_s) const { return memcpy_gb_per_s(target, source, budget_s); }

  RawMemory source;
  RawMemory target;
};

}  // namespace

void measure_memory(bool quick, Report& report) {
  const PinnedHere pinned;
  const double budget_s = (quick ? 0.1 : 0.5) / kRounds;
  for (const std::uint64_t bytes : kSizes) {
    if (quick && bytes > kQuickBytesMax) continue;
    const Pair heap(kGrounds[0], bytes);
    for (const Ground& ground : kGrounds) {
      const Pair pair(ground, bytes);
      Samples rates;
      Samples limits;
      for (int round = 0; round < kRounds; ++round) {
        limits.add(heap.gb_per_s(budget_s));
        rates.add(pair.gb_per_s(budget_s));
      }
      report.add({"transport_bench", "raw", std::string("memcpy_") + ground.name, bytes, rates.median(),
                  "GB/s", rates.median(), rates.quantile(0.01), limits.median(), "memcpy"});
    }
  }
}

}  // namespace tf::bench
