// SPDX-License-Identifier: Apache-2.0
// Physical limits between two cores: ping-pong, lines per second, memcpy.
#include "benchmarks/raw_limits.h"

#include <immintrin.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "benchmarks/placement.h"
#include "benchmarks/raw_memory.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr int kTripsPerSample = 100;
constexpr std::uint32_t kStop = 0xffffffff;

struct alignas(128) Line {
  std::atomic<std::uint32_t> ball{0};
  std::uint32_t payload[15] = {};
};

// Odd numbers are served over `there`, and returned as even ones over `back`, with `payload` words beside
// each. Both may be one line. Neither end lets its processor pause: a pause is as long as a trip.
void return_balls(Line& there, Line& back, int payload) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::uint32_t wanted = 1;; wanted += 2) {
    std::uint32_t seen = 0;
    while ((seen = there.ball.load(std::memory_order_acquire)) != wanted)
      if (seen == kStop) return;
    asm volatile("" : : "r"(there.payload[14]));  // what came is looked at
    for (int word = 0; word < payload; ++word) back.payload[word] = wanted;
    back.ball.store(wanted + 1, std::memory_order_release);
  }
}

void serve_balls(Line& there, Line& back, int payload, std::uint32_t& ball) {
  for (int trip = 0; trip < kTripsPerSample; ++trip) {
    for (int word = 0; word < payload; ++word) there.payload[word] = ball;
    there.ball.store(ball + 1, std::memory_order_release);
    ball += 2;
    while (back.ball.load(std::memory_order_acquire) != ball) {
    }
    asm volatile("" : : "r"(back.payload[14]));
  }
}

double ping_pong_ns(bool one_line, int payload, double budget_s) {
  void* memory = ::mmap(nullptr, 2 * sizeof(Line), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  auto* lines = new (memory) Line[2];
  Line& there = lines[0];
  Line& back = lines[one_line ? 0 : 1];
  const pid_t child = ::fork();
  if (child == 0) {
    leave_to_another_processor();
    return_balls(there, back, payload);
    ::_exit(0);
  }
  std::uint32_t ball = 0;
  const Samples samples = repeat(budget_s, 20, 1'000'000, [&] { serve_balls(there, back, payload, ball); });
  there.ball.store(kStop, std::memory_order_release);
  ::waitpid(child, nullptr, 0);
  ::munmap(memory, 2 * sizeof(Line));
  return samples.median() / kTripsPerSample * 1e9;
}

constexpr std::uint64_t kRingLines = 4096;  // 256 KiB: fits the caches
constexpr std::uint64_t kLinesPerSample = 1 << 20;

struct alignas(64) NumberedLine {
  std::atomic<std::uint64_t> number{0};  // of the line that was written last here, from 1
  std::uint64_t payload[7] = {};
};

struct LineRing {
  alignas(128) std::atomic<std::uint64_t> taken{0};
  alignas(128) std::atomic<bool> stop{false};
  alignas(128) NumberedLine lines[kRingLines];
};

void take_lines(LineRing& ring) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::uint64_t next = 1; !ring.stop.load(std::memory_order_relaxed);) {
    const NumberedLine& line = ring.lines[next % kRingLines];
    if (line.number.load(std::memory_order_acquire) != next) {
      _mm_pause();
      continue;
    }
    asm volatile("" : : "r"(line.payload[6]));  // the reader looks at what came
    if (next % (kRingLines / 4) == 0) ring.taken.store(next, std::memory_order_release);
    ++next;
  }
}

// Writes lines `first`..`last` and waits until the reader has them.
void put_lines(LineRing& ring, std::uint64_t first, std::uint64_t last) {
  std::uint64_t taken = ring.taken.load(std::memory_order_acquire);
  for (std::uint64_t next = first; next <= last; ++next) {
    while (next > taken + kRingLines) taken = ring.taken.load(std::memory_order_acquire);
    NumberedLine& line = ring.lines[next % kRingLines];
    for (std::uint64_t& word : line.payload) word = next;
    line.number.store(next, std::memory_order_release);
  }
  while (ring.taken.load(std::memory_order_acquire) < last) _mm_pause();
}

}  // namespace

double raw_lines_per_s(double budget_s) {
  const PinnedHere pinned;
  void* memory = ::mmap(nullptr, sizeof(LineRing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  auto* ring = new (memory) LineRing;
  const pid_t child = ::fork();
  if (child == 0) {
    leave_to_another_processor();
    take_lines(*ring);
    ::_exit(0);
  }
  std::uint64_t next = 1;
  const Samples samples = repeat(budget_s, 3, 1000, [&] {
    put_lines(*ring, next, next + kLinesPerSample - 1);
    next += kLinesPerSample;
  });
  ring->stop.store(true, std::memory_order_relaxed);
  ::waitpid(child, nullptr, 0);
  ::munmap(memory, sizeof(LineRing));
  return static_cast<double>(kLinesPerSample) / samples.median();
}

double raw_round_trip_ns(double budget_s) { return ping_pong_ns(true, 0, budget_s); }

double raw_message_trip_ns(double budget_s) { return ping_pong_ns(false, 15, budget_s); }

double raw_memcpy_gb_per_s(std::uint64_t bytes, double budget_s) {
  const RawMemory source(Pages::kHeap, bytes);
  const RawMemory target(Pages::kHeap, bytes);
  return memcpy_gb_per_s(target, source, budget_s);
}

}  // namespace tf::bench
