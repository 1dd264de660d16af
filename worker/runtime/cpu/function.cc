// SPDX-License-Identifier: Apache-2.0
// Queries and settings of kernels; and occupancy: the number of blocks that share a core, from the device's
// limits and the kernel's shared memory.
#include <algorithm>
#include <climits>
#include <cstring>

#include "hipcore/composed/composed.h"
#include "worker/runtime/common/programs.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/module.h"
#include "worker/runtime/cpu/properties.h"

hipError_t tf::composed::get_parameter(hipFunction_t handle, size_t index, size_t& offset, size_t& bytes) {
  const auto function = tf::cpu::find_function(handle);
  if (!function) return hipErrorInvalidDeviceFunction;
  const auto& arguments = function->kernel().arguments;
  if (index >= arguments.size()) return hipErrorInvalidValue;
  offset = arguments[index].offset_bytes;
  bytes = arguments[index].size_bytes;
  return hipSuccess;
}

namespace tf::cpu {
namespace {

int cores_of(const Function& function) {
  return Runtime::get().device(function.device()).properties().multiProcessorCount;
}

int count_active(const Function& function, int threads, std::size_t dynamic_bytes) {
  const auto& kernel = function.kernel();
  if (static_cast<std::uint32_t>(threads) > kernel.max_threads_per_block) return 0;
  if (dynamic_bytes > function.max_dynamic_shared_bytes()) return 0;
  int blocks = std::min(kMaxBlocksPerMultiprocessor, kMaxThreadsPerMultiprocessor / threads);
  const std::size_t shared_bytes = kernel.static_shared_bytes + dynamic_bytes;
  if (shared_bytes > 0) blocks = std::min(blocks, static_cast<int>(kMaxSharedBytes / shared_bytes));
  // A cooperative program sizes its grid by this times the number of cores.
  const auto resident = static_cast<int>(
      std::min<std::uint32_t>(max_cooperative_blocks(static_cast<std::uint32_t>(threads)), INT_MAX));
  return std::min(blocks, std::max(1, resident / cores_of(function)));
}

}  // namespace

hipError_t Backend::host_kernel(const void* host, hipStream_t handle, Kernel& kernel) {
  Stream stream;
  if (const hipError_t status = find_stream(handle, stream)) return status;
  return runtime::programs().function(host, stream->device().ordinal(), kernel);
}

hipError_t Backend::function_name(const Kernel& function, const char*& name) {
  name = function->kernel().name.c_str();
  return hipSuccess;
}

hipError_t Backend::function_attribute(const Kernel& function, hipFunction_attribute attribute, int& value) {
  const auto& kernel = function->kernel();
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      value = static_cast<int>(kernel.max_threads_per_block);
      break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: value = static_cast<int>(kernel.static_shared_bytes); break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: value = static_cast<int>(kernel.private_bytes); break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      value = static_cast<int>(function->max_dynamic_shared_bytes());
      break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION: value = 90; break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: value = static_cast<int>(kernel.constant_bytes); break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: value = 0; break;
    default: return hipErrorInvalidValue;
  }
  return hipSuccess;
}

hipError_t Backend::function_attributes(const Kernel& function, hipFuncAttributes& attributes) {
  const auto& kernel = function->kernel();
  std::memset(&attributes, 0, sizeof attributes);
  attributes.binaryVersion = 90;
  attributes.ptxVersion = 90;
  attributes.constSizeBytes = kernel.constant_bytes;
  attributes.localSizeBytes = kernel.private_bytes;
  attributes.sharedSizeBytes = kernel.static_shared_bytes;
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(function->max_dynamic_shared_bytes());
  attributes.maxThreadsPerBlock = static_cast<int>(kernel.max_threads_per_block);
  attributes.numRegs = 0;
  return hipSuccess;
}

// The limit is the device's whole shared memory already.
hipError_t Backend::set_function_attribute(const Kernel& function, hipFuncAttribute attribute, int value) {
  if (attribute == hipFuncAttributePreferredSharedMemoryCarveout) return hipSuccess;
  const bool fits = value >= 0 && static_cast<unsigned>(value) <= function->max_dynamic_shared_bytes();
  return fits ? hipSuccess : hipErrorInvalidValue;
}

// A hint, which may be ignored.
hipError_t Backend::set_function_cache(const Kernel&, hipFuncCache_t) { return hipSuccess; }

hipError_t Backend::active_blocks(const Kernel& function, int threads, std::size_t dynamic_bytes, unsigned,
                                  int& blocks) {
  blocks = count_active(*function, threads, dynamic_bytes);
  return hipSuccess;
}

hipError_t Backend::best_block(const Kernel& function, std::size_t dynamic_bytes, int limit, unsigned,
                               int& grid, int& block) {
  block = static_cast<int>(function->kernel().max_threads_per_block);
  if (limit > 0) block = std::min(block, limit);
  grid = std::max(1, count_active(*function, block, dynamic_bytes)) * cores_of(*function);
  return hipSuccess;
}

}  // namespace tf::cpu
