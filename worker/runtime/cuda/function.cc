// SPDX-License-Identifier: Apache-2.0
// Finds kernels of host stubs, sets how much dynamic shared memory a kernel may have, and answers queries of
// it.
#include <array>
#include <atomic>
#include <cstring>

#include "worker/runtime/common/programs.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/module.h"

namespace tf::cuda {
namespace {

// Grows with forget_shared(). Relaxed: a program that launches a kernel while it unloads it has lost either
// way.
std::atomic<std::uint64_t> unloads{1};

struct Allowed {
  hipFunction_t function = nullptr;
  std::size_t bytes = 0;
  std::uint64_t unloads = 0;
};
constinit thread_local Allowed last_allowed{};

int attribute_of(hipFunction_t function, int attribute) {
  int value = 0;
  return cu().FuncGetAttribute(&value, attribute, function) == driver::Result::SUCCESS ? value : 0;
}

}  // namespace

hipError_t allow_shared(hipFunction_t function, std::size_t bytes) {
  const std::uint64_t now = unloads.load(std::memory_order_relaxed);
  Allowed& last = last_allowed;
  if (last.function == function && bytes <= last.bytes && last.unloads == now) return hipSuccess;
  int allowed = attribute_of(function, driver::kFunctionDynamicSharedBytesMax);
  if (allowed < 0 || static_cast<std::size_t>(allowed) < bytes) {
    const auto whole = static_cast<int>(current_device().properties.sharedMemPerBlock);
    allowed = whole - attribute_of(function, driver::kFunctionStaticSharedBytes);
    if (allowed < 0 || static_cast<std::size_t>(allowed) < bytes) return hipErrorInvalidValue;
    const driver::Result result =
        cu().FuncSetAttribute(function, driver::kFunctionDynamicSharedBytesMax, allowed);
    if (result != driver::Result::SUCCESS) return hip_error(result);
  }
  last = {function, static_cast<std::size_t>(allowed), now};
  return hipSuccess;
}

void forget_shared() { unloads.fetch_add(1, std::memory_order_relaxed); }

hipError_t check_shape(hipFunction_t function, const Shape& shape) {
  const hipDeviceProp_t& limit = current_device().properties;
  const unsigned blocks[] = {shape.blocks.x, shape.blocks.y, shape.blocks.z};
  const unsigned threads[] = {shape.threads.x, shape.threads.y, shape.threads.z};
  for (int axis = 0; axis < 3; ++axis) {
    if (blocks[axis] == 0 || blocks[axis] > static_cast<unsigned>(limit.maxGridSize[axis]) ||
        threads[axis] == 0 || threads[axis] > static_cast<unsigned>(limit.maxThreadsDim[axis]))
      return hipErrorInvalidConfiguration;
  }
  if (is_too_large(shape)) return hipErrorInvalidConfiguration;
  const std::uint64_t count = std::uint64_t{threads[0]} * threads[1] * threads[2];
  if (count > static_cast<std::uint64_t>(limit.maxThreadsPerBlock)) return hipErrorInvalidConfiguration;
  const int most = attribute_of(function, driver::kFunctionThreadsMax);
  return most > 0 && count > static_cast<std::uint64_t>(most) ? hipErrorLaunchFailure : hipSuccess;
}

namespace {

// What this thread found last. Direct mapped: kernels that evict each other are looked up again.
struct Recent {
  const void* host = nullptr;
  int device = -1;
  std::uint64_t version = 0;
  hipFunction_t function = nullptr;
};
constexpr std::size_t kRecents = 16;
constinit thread_local std::array<Recent, kRecents> recents{};

}  // namespace

hipError_t host_kernel(const void* host, hipFunction_t& found) {
  const int device = thread_state().device;
  Recent& recent = recents[(reinterpret_cast<std::uintptr_t>(host) >> 4) % kRecents];
  runtime::Programs& programs = runtime::programs();
  const std::uint64_t version = programs.version();
  if (recent.host == host && recent.device == device && recent.version == version) {
    found = recent.function;
    return hipSuccess;
  }
  if (const hipError_t status = programs.function(host, device, found)) return status;
  recent = {host, device, version, found};
  return hipSuccess;
}

hipError_t Backend::host_kernel(const void* host, hipStream_t, Kernel& kernel) {
  return cuda::host_kernel(host, kernel);
}

hipError_t Backend::function_name(Kernel function, const char*& name) {
  return check(cu().FuncGetName(&name, function));
}

hipError_t Backend::function_attribute(Kernel function, hipFunction_attribute attribute, int& value) {
  const hipError_t status = check(cu().FuncGetAttribute(&value, attribute, function));
  if (status == hipSuccess && attribute == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    value = static_cast<int>(current_device().properties.sharedMemPerBlock) -
            attribute_of(function, driver::kFunctionStaticSharedBytes);
  return status;
}

hipError_t Backend::function_attributes(Kernel function, hipFuncAttributes& attributes) {
  int threads = 0;
  const driver::Result result = cu().FuncGetAttribute(&threads, driver::kFunctionThreadsMax, function);
  if (result != driver::Result::SUCCESS) return hip_error(result);
  std::memset(&attributes, 0, sizeof attributes);
  attributes.maxThreadsPerBlock = threads;
  const auto bytes_of = [&](int attribute) {
    return static_cast<std::size_t>(attribute_of(function, attribute));
  };
  attributes.binaryVersion = attribute_of(function, driver::kFunctionBinaryVersion);
  attributes.ptxVersion = attribute_of(function, driver::kFunctionPtxVersion);
  attributes.cacheModeCA = attribute_of(function, driver::kFunctionCacheModeCa);
  attributes.numRegs = attribute_of(function, driver::kFunctionRegisters);
  attributes.preferredShmemCarveout = attribute_of(function, driver::kFunctionSharedCarveout);
  attributes.constSizeBytes = bytes_of(driver::kFunctionConstBytes);
  attributes.localSizeBytes = bytes_of(driver::kFunctionLocalBytes);
  attributes.sharedSizeBytes = bytes_of(driver::kFunctionStaticSharedBytes);
  // What it can have; the launch requests it.
  attributes.maxDynamicSharedSizeBytes =
      static_cast<int>(current_device().properties.sharedMemPerBlock - attributes.sharedSizeBytes);
  return hipSuccess;
}

hipError_t Backend::set_function_attribute(Kernel function, hipFuncAttribute attribute, int value) {
  forget_shared();
  return check(cu().FuncSetAttribute(function, attribute, value));
}

hipError_t Backend::set_function_cache(Kernel function, hipFuncCache_t config) {
  return check(cu().FuncSetCacheConfig(function, config));
}

namespace {

// The driver reports zero blocks for more shared memory than the kernel has asked for; a launch would ask for
// it.
void prepare(hipFunction_t function, std::size_t shared_bytes) {
  if (shared_bytes > kPlainSharedBytes) static_cast<void>(allow_shared(function, shared_bytes));
}

}  // namespace

hipError_t Backend::active_blocks(Kernel function, int threads, std::size_t dynamic_bytes, unsigned flags,
                                  int& blocks) {
  prepare(function, dynamic_bytes);
  return check(cu().OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, threads,
                                                                       dynamic_bytes, flags));
}

hipError_t Backend::best_block(Kernel function, std::size_t dynamic_bytes, int limit, unsigned flags,
                               int& grid, int& block) {
  prepare(function, dynamic_bytes);
  return check(cu().OccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, nullptr, dynamic_bytes,
                                                            limit, flags));
}

}  // namespace tf::cuda
