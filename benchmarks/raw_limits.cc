// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/raw_limits.h"

#include <immintrin.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "benchmarks/placement.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr int kTripsPerSample = 100;
constexpr std::uint32_t kStop = 0xffffffff;

struct alignas(128) Line {
  std::atomic<std::uint32_t> ball{0};
};

// Both ends share one line: even numbers are served, odd ones returned.
void return_balls(Line& line) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    const std::uint32_t seen = line.ball.load(std::memory_order_acquire);
    if (seen == kStop) return;
    if (seen % 2 == 1) {
      line.ball.store(seen + 1, std::memory_order_release);
    } else {
      _mm_pause();
    }
  }
}

}  // namespace

double raw_round_trip_ns(double budget_s) {
  void* memory = ::mmap(nullptr, sizeof(Line), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  auto* line = new (memory) Line;
  const pid_t child = ::fork();
  if (child == 0) {
    leave_to_another_processor();
    return_balls(*line);
    ::_exit(0);
  }
  std::uint32_t ball = 0;
  Samples samples = repeat(budget_s, 20, 1'000'000, [&] {
    for (int trip = 0; trip < kTripsPerSample; ++trip) {
      line->ball.store(ball + 1, std::memory_order_release);
      ball += 2;
      while (line->ball.load(std::memory_order_acquire) != ball) _mm_pause();
    }
  });
  line->ball.store(kStop, std::memory_order_release);
  ::waitpid(child, nullptr, 0);
  ::munmap(memory, sizeof(Line));
  return samples.median() / kTripsPerSample * 1e9;
}

double raw_memcpy_gb_per_s(std::uint64_t bytes, double budget_s) {
  auto* source = static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  auto* target = static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  double rate = 0;
  if (source != nullptr && target != nullptr) {
    std::memset(source, 1, bytes);
    std::memset(target, 2, bytes);
    Samples samples = repeat(budget_s, 3, 100'000, [&] {
      std::memcpy(target, source, bytes);
      asm volatile("" : : "r"(target) : "memory");  // the copy is wanted
    });
    rate = static_cast<double>(bytes) / samples.median() / 1e9;
  }
  std::free(source);
  std::free(target);
  return rate;
}

}  // namespace tf::bench
