// SPDX-License-Identifier: Apache-2.0
// Copies to and from the device, pinned and pageable, beside memcpy (same host) or a raw TCP stream.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/raw_limits.h"
#include "benchmarks/raw_tcp.h"
#include "benchmarks/report/provenance.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

// Every fourth power of two: thirteen points. A quick run measures a few, and more where they are drawn.
constexpr std::uint64_t kSizes[] = {64,      256,     1024,     4096,     16 << 10,  64 << 10, 256 << 10,
                                    1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30};
constexpr std::uint64_t kQuickSizes[] = {4096, 1 << 20, 64 << 20};
constexpr std::uint64_t kQuickPlotBytesMax = 256 << 20;
// Of the size: pinned and pageable memory, their device memory where that is the host's, source and target of
// the limit, and what a private worker on the same host stages.
constexpr std::uint64_t kMemoryPerByte = 8;
constexpr int kTurns = 3;
constexpr std::uint64_t kShortBytes = 1 << 20;  // below, the clock would be part of a copy: timed in batches
constexpr std::uint64_t kOneTurnBytes = 256 << 20;  // from here on one turn is long enough

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
  // The limit over tcp forks: our pages are then shared with a child that is gone, and each costs a fault
  // when it is written next. That is not what is measured either.
  void unshare() {
    auto* first = static_cast<volatile char*>(memory);
    for (std::uint64_t at = 0; at < bytes; at += 4096) first[at] = first[at];
  }
  std::uint64_t bytes;
  bool pinned;
  void* memory = nullptr;
};

double gb_per_s(std::uint64_t bytes, double seconds) { return static_cast<double>(bytes) / seconds / 1e9; }

// Seconds of copies: of short ones a median and a tail for each turn.
struct Timings {
  Samples medians;
  Samples tails;
};

// One size, one kind of memory: what goes up and what comes down.
class Copies {
 public:
  Copies(std::uint64_t bytes, bool pinned) : host_(bytes, pinned) {
    TF_CHECK(hipMalloc(&device_, bytes));
    check_values();
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() { (void)hipFree(device_); }

  void measure(double budget_s) {
    host_.unshare();
    // A pageable copy up may return before the device has the bytes: the synchronize is part of the price.
    collect(up_, budget_s, [&] {
      up();
      TF_CHECK(hipDeviceSynchronize());
    });
    collect(down_, budget_s, [&] { down(); });
  }
  void report(Context& context, double limit) const {
    const std::string suffix = host_.pinned ? "_pinned" : "_pageable";
    add(context, "h2d" + suffix, up_, limit);
    add(context, "d2h" + suffix, down_, limit);
  }

 private:
  void up() { TF_CHECK(hipMemcpy(device_, host_.memory, host_.bytes, hipMemcpyHostToDevice)); }
  void down() { TF_CHECK(hipMemcpy(host_.memory, device_, host_.bytes, hipMemcpyDeviceToHost)); }

  // A pattern goes up, the buffer is cleared, the pattern must come down.
  void check_values() {
    auto* words = static_cast<std::uint64_t*>(host_.memory);
    const std::uint64_t count = host_.bytes / 8;
    auto pattern = [&](std::uint64_t index) { return index * 0x9e3779b97f4a7c15U + host_.bytes; };
    for (std::uint64_t index = 0; index < count; ++index) words[index] = pattern(index);
    up();
    std::memset(host_.memory, 0, host_.bytes);
    down();
    for (std::uint64_t index = 0; index < count; ++index) {
      if (words[index] != pattern(index)) check(hipErrorUnknown, "copied data came back wrong");
    }
  }

  template <typename Body>
  void collect(Timings& timings, double budget_s, Body&& body) const {
    if (host_.bytes < kShortBytes) {
      const ShortOperation copy = measure_short(budget_s, body);
      timings.medians.add(copy.median_s);
      timings.tails.add(copy.p99_s);
      return;
    }
    const Samples copies = repeat(budget_s, 1, 200, body);
    timings.medians.add(copies);
    timings.tails.add(copies);
  }

  void add(Context& context, const std::string& metric, const Timings& timings, double limit) const {
    context.add(metric, host_.bytes, "GB/s", gb_per_s(host_.bytes, timings.medians.median()),
                gb_per_s(host_.bytes, timings.tails.quantile(0.99)), limit,
                !context.over_tcp()        ? "memcpy"
                : context.tcp_lanes() == 1 ? "raw TCP stream"
                                           : "raw TCP streams");
  }

  Buffer host_;
  void* device_ = nullptr;
  Timings up_;
  Timings down_;
};

double raw_limit(const Context& context, std::uint64_t bytes, double budget_s) {
  return context.over_tcp() ? raw_tcp_stream_gb_per_s(bytes, budget_s, context.tcp_lanes())
                            : raw_memcpy_gb_per_s(bytes, budget_s);
}

// The limit and the copies take turns, so that a machine that changes its speed changes it for all of them.
void measure_size(Context& context, std::uint64_t bytes) {
  Copies pinned(bytes, true);
  Copies pageable(bytes, false);
  Samples limits;
  const int turns = bytes < kOneTurnBytes ? kTurns : 1;
  const double budget_s = context.budget_s() / turns;
  for (int turn = 0; turn < turns; ++turn) {
    limits.add(raw_limit(context, bytes, budget_s));
    pinned.measure(budget_s);
    pageable.measure(budget_s);
  }
  pinned.report(context, limits.median());
  pageable.report(context, limits.median());
}

struct Size {
  std::uint64_t bytes = 0;
  bool plot_only = false;
};

std::vector<Size> sizes_of(const Options& options) {
  std::vector<Size> sizes;
  for (const std::uint64_t bytes : options.sizes) sizes.push_back({bytes});
  if (!sizes.empty()) return sizes;
  for (const std::uint64_t bytes : kSizes) {
    const bool few = std::ranges::find(kQuickSizes, bytes) == std::end(kQuickSizes);
    if (options.quick && few && (options.plot_file.empty() || bytes > kQuickPlotBytesMax)) continue;
    sizes.push_back({bytes, options.quick && few});
  }
  return sizes;
}

// Empty, or why a copy of so many bytes is not measured here.
std::string too_large(std::uint64_t bytes) {
  std::size_t device_free = 0;
  std::size_t device_total = 0;
  TF_CHECK(hipMemGetInfo(&device_free, &device_total));
  if (device_free < 2 * bytes)
    return bytes_text(bytes) + " is left out: the device has less than twice as much free";
  const std::uint64_t available = available_memory();
  if (available == 0 || available / kMemoryPerByte >= bytes) return {};
  return bytes_text(bytes) + " is left out: it takes " + bytes_text(kMemoryPerByte * bytes) +
         " of memory, of which this machine has less available";
}

}  // namespace

void measure_copies(Context& context) {
  if (!context.wants("h2d") && !context.wants("d2h")) return;
  for (const Size& size : sizes_of(context.options())) {
    if (size.bytes > context.options().bytes_max) continue;
    if (const std::string why = too_large(size.bytes); !why.empty()) {
      context.leave_out(why);
      continue;
    }
    context.plot_only(size.plot_only);
    measure_size(context, size.bytes);
  }
  context.plot_only(false);
  if (context.options().quick && context.options().sizes.empty() && !context.options().plot_file.empty())
    context.leave_out("a quick run: sizes above " + bytes_text(kQuickPlotBytesMax) + " are left out");
}

}  // namespace tf::bench
