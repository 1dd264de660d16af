// SPDX-License-Identifier: Apache-2.0
// Occupancy: how many blocks share a core, as the device's limits and the kernel's shared memory allow.
#include <algorithm>
#include <climits>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/module.h"
#include "worker/runtime/cpu/programs.h"
#include "worker/runtime/cpu/properties.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

int active_blocks(const Function& function, int threads, std::size_t dynamic_bytes) {
  const Kernel& kernel = function.kernel();
  if (static_cast<std::uint32_t>(threads) > kernel.max_threads_per_block) return 0;
  if (dynamic_bytes > function.max_dynamic_shared_bytes()) return 0;
  int blocks = std::min(kMaxBlocksPerMultiprocessor, kMaxThreadsPerMultiprocessor / threads);
  const std::size_t shared_bytes = kernel.static_shared_bytes + dynamic_bytes;
  if (shared_bytes > 0) blocks = std::min(blocks, static_cast<int>(kMaxSharedBytes / shared_bytes));
  // A cooperative program sizes its grid by this times the number of cores.
  const int cores = Runtime::get().device(function.device()).properties().multiProcessorCount;
  const auto resident = static_cast<int>(
      std::min<std::uint32_t>(max_cooperative_blocks(static_cast<std::uint32_t>(threads)), INT_MAX));
  return std::min(blocks, std::max(1, resident / cores));
}

hipError_t max_active(int* blocks, const Function* function, int threads, std::size_t dynamic_bytes,
                      unsigned flags) {
  if (!function) return hipErrorInvalidDeviceFunction;
  if (!blocks || threads <= 0 || flags > 1) return hipErrorInvalidValue;
  *blocks = active_blocks(*function, threads, dynamic_bytes);
  return hipSuccess;
}

hipError_t best_block(int* grid, int* block, const Function* function, std::size_t dynamic_bytes, int limit) {
  if (!function) return hipErrorInvalidDeviceFunction;
  if (!grid || !block) return hipErrorInvalidValue;
  int threads = static_cast<int>(function->kernel().max_threads_per_block);
  if (limit > 0) threads = std::min(threads, limit);
  *block = threads;
  *grid = std::max(1, active_blocks(*function, threads, dynamic_bytes)) *
          Runtime::get().device(function->device()).properties().multiProcessorCount;
  return hipSuccess;
}

template <typename Body>
hipError_t with_host(const void* host, Body&& body) {
  return api([&]() -> hipError_t {
    std::shared_ptr<Function> function;
    if (const hipError_t status = Runtime::get().programs().function(host, nullptr, function)) return status;
    return body(function.get());
  });
}

template <typename Body>
hipError_t with_handle(hipFunction_t handle, Body&& body) {
  return api([&]() -> hipError_t { return body(Runtime::get().functions.find(handle).get()); });
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                        size_t dynamic) {
  return with_host(host,
                   [&](const Function* found) { return max_active(blocks, found, threads, dynamic, 0); });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                 size_t dynamic, unsigned flags) {
  return with_host(host,
                   [&](const Function* found) { return max_active(blocks, found, threads, dynamic, flags); });
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* host, size_t dynamic,
                                             int limit) {
  return with_host(host,
                   [&](const Function* found) { return best_block(grid, block, found, dynamic, limit); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int threads, size_t dynamic) {
  return with_handle(function,
                     [&](const Function* found) { return max_active(blocks, found, threads, dynamic, 0); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function,
                                                                       int threads, size_t dynamic,
                                                                       unsigned flags) {
  return with_handle(
      function, [&](const Function* found) { return max_active(blocks, found, threads, dynamic, flags); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function,
                                                   size_t dynamic, int limit) {
  return with_handle(function,
                     [&](const Function* found) { return best_block(grid, block, found, dynamic, limit); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function,
                                                            size_t dynamic, int limit, unsigned flags) {
  return with_handle(function, [&](const Function* found) {
    return flags > 1 ? hipErrorInvalidValue : best_block(grid, block, found, dynamic, limit);
  });
}

}  // extern "C"
