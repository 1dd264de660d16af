// SPDX-License-Identifier: Apache-2.0
// Occupancy, as the driver computes it.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/module.h"

namespace tf::cuda {
namespace {

// The driver counts none for more shared memory than was asked for; the launch would ask.
void prepare(hipFunction_t function, std::size_t shared_bytes) {
  if (shared_bytes > kPlainSharedBytes) static_cast<void>(allow_shared(function, shared_bytes));
}

hipError_t max_active(int* blocks, hipFunction_t function, int threads, std::size_t shared_bytes,
                      unsigned flags) {
  if (!function) return hipErrorInvalidDeviceFunction;
  if (!blocks || threads <= 0 || flags > 1) return hipErrorInvalidValue;
  prepare(function, shared_bytes);
  return check(cu().OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                       shared_bytes, flags));
}

hipError_t best_block(int* grid, int* block, hipFunction_t function, std::size_t shared_bytes, int limit,
                      unsigned flags) {
  if (!function) return hipErrorInvalidDeviceFunction;
  if (!grid || !block || flags > 1) return hipErrorInvalidValue;
  prepare(function, shared_bytes);
  return check(cu().OccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, nullptr, shared_bytes,
                                                            limit > 0 ? limit : 0, flags));
}

template <typename Body>
hipError_t with_host(const void* host, Body&& body) {
  return api([&]() -> hipError_t {
    hipFunction_t function = nullptr;
    if (const hipError_t status = programs().function(host, function)) return status;
    return body(function);
  });
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                        size_t dynamic) {
  return with_host(host, [&](hipFunction_t found) { return max_active(blocks, found, threads, dynamic, 0); });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                 size_t dynamic, unsigned flags) {
  return with_host(host,
                   [&](hipFunction_t found) { return max_active(blocks, found, threads, dynamic, flags); });
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* host, size_t dynamic,
                                             int limit) {
  return with_host(host,
                   [&](hipFunction_t found) { return best_block(grid, block, found, dynamic, limit, 0); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int threads, size_t dynamic) {
  return api([&] { return max_active(blocks, function, threads, dynamic, 0); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function,
                                                                       int threads, size_t dynamic,
                                                                       unsigned flags) {
  return api([&] { return max_active(blocks, function, threads, dynamic, flags); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function,
                                                   size_t dynamic, int limit) {
  return api([&] { return best_block(grid, block, function, dynamic, limit, 0); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function,
                                                            size_t dynamic, int limit, unsigned flags) {
  return api([&] { return best_block(grid, block, function, dynamic, limit, flags); });
}

}  // extern "C"
