// SPDX-License-Identifier: Apache-2.0
// hip_load puts one kind of load on a HIP runtime, and reports what it cost this process. benchmarks/compare
// starts one or many of them and watches the other side.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tf::bench {

struct LoadOptions {
  std::string load;
  std::uint64_t count = 100'000;  // calls, posts, copies
  std::uint64_t bytes = 1 << 20;  // of one copy
  double seconds = 2;             // threads, steps, idle
  int threads = 1;
  bool pageable = false;
  bool gate = false;  // wait for a line on standard input before and after
};

struct LoadFigures {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;  // moved in all
  double seconds = 0;
  double p50_ns = 0;  // per waiting operation; 0 if none waits
  double p99_ns = 0;
};

// Ends the program with a message when `error` is not success.
void check(hipError_t error, const char* what);
#define TF_CHECK(call) ::tf::bench::check((call), #call)

// A load sets up in its constructor, so that connecting and first touches are not measured, and runs once.
class Load {
 public:
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  virtual ~Load() = default;
  virtual LoadFigures run() = 0;
};

struct LoadKind {
  const char* name;                             // reference.toml says what it does
  Load* (*create)(const LoadOptions& options);  // the caller owns it
};
const std::vector<LoadKind>& load_kinds();
// Those that run kernels (grids.cc); none where no kernels can be compiled.
std::vector<LoadKind> grid_loads();

// Without HIP (kernel_loads.cc). The caller owns them.
Load* make_compute(const LoadOptions& options);
Load* make_turns(const LoadOptions& options);

}  // namespace tf::bench
