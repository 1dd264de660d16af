// SPDX-License-Identifier: Apache-2.0
// hsa_ext_amd.h of ROCm 6, virtual memory management.
#include <algorithm>
#include <vector>

#include "tests/amd/hsa/api.h"
#include "tests/amd/hsa/newer.h"

namespace tf::amd::hsa {
namespace {

bool is_whole_pages(std::size_t bytes) { return bytes != 0 && bytes % kPageBytes == 0; }

bool is_power_of_two(std::size_t number) { return number != 0 && (number & (number - 1)) == 0; }

hsa_status_t reserve(void** address, std::size_t bytes, std::uint64_t wanted, std::uint64_t alignment,
                     std::uint64_t flags) {
  return with_runtime([&](Runtime& runtime) {
    if (alignment == 0) alignment = kPageBytes;
    if (address == nullptr || !is_whole_pages(bytes) || !is_power_of_two(alignment) ||
        alignment < kPageBytes || flags != 0)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *address = runtime.virtual_memory.reserve(bytes, wanted, alignment);
    return *address != nullptr ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  });
}

}  // namespace
}  // namespace tf::amd::hsa

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_amd_vmem_address_reserve(void** address, size_t bytes, uint64_t wanted, uint64_t flags) {
  return reserve(address, bytes, wanted, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_reserve_align(void** address, size_t bytes, uint64_t wanted,
                                                uint64_t alignment, uint64_t flags) {
  return reserve(address, bytes, wanted, alignment, flags);
}

hsa_status_t hsa_amd_vmem_address_free(void* address, size_t bytes) {
  return with_runtime([&](Runtime& runtime) { return runtime.virtual_memory.unreserve(address, bytes); });
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t handle, size_t bytes,
                                        hsa_amd_memory_type_t type, uint64_t flags,
                                        hsa_amd_vmem_alloc_handle_t* made) {
  return with_runtime([&](Runtime& runtime) {
    const Pool* pool = runtime.pool(handle.handle);
    const bool known = type == MEMORY_TYPE_NONE || type == MEMORY_TYPE_PINNED;
    if (pool == nullptr || made == nullptr || !is_whole_pages(bytes) || !known || flags != 0)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!pool->allocates) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    const auto number = static_cast<std::uint32_t>(pool - runtime.pools.data());
    return runtime.virtual_memory.create({pool->owner, pool->global_flags, number}, bytes, made->handle);
  });
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle) {
  return with_runtime([&](Runtime& runtime) { return runtime.virtual_memory.release(handle.handle); });
}

hsa_status_t hsa_amd_vmem_map(void* address, size_t bytes, size_t offset, hsa_amd_vmem_alloc_handle_t handle,
                              uint64_t flags) {
  return with_runtime([&](Runtime& runtime) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(address) % kPageBytes == 0;
    if (!aligned || offset != 0 || flags != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return runtime.virtual_memory.map(address, bytes, handle.handle);
  });
}

hsa_status_t hsa_amd_vmem_unmap(void* address, size_t bytes) {
  return with_runtime([&](Runtime& runtime) { return runtime.virtual_memory.unmap(address, bytes); });
}

hsa_status_t hsa_amd_vmem_set_access(void* address, size_t bytes, const hsa_amd_memory_access_desc_t* wanted,
                                     size_t count) {
  return with_runtime([&](Runtime& runtime) {
    if (wanted == nullptr || count == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    std::vector<Access> access;
    for (std::size_t at = 0; at < count; at++) {
      const Agent* agent = runtime.agent(wanted[at].agent_handle);
      if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
      if (static_cast<unsigned>(wanted[at].permissions) > HSA_ACCESS_PERMISSION_RW)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
      access.push_back({agent->index, wanted[at].permissions});
    }
    return runtime.virtual_memory.set_access(address, bytes, access);
  });
}

hsa_status_t hsa_amd_vmem_get_access(void* address, hsa_access_permission_t* permission, hsa_agent_t handle) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* agent = runtime.agent(handle);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (permission == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return runtime.virtual_memory.get_access(address, agent->index, *permission);
  });
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* file, hsa_amd_vmem_alloc_handle_t handle,
                                                  uint64_t flags) {
  return with_runtime([&](Runtime& runtime) {
    if (file == nullptr || flags != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return runtime.virtual_memory.export_handle(handle.handle, *file);
  });
}

hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, hsa_amd_vmem_alloc_handle_t* handle) {
  return with_runtime([&](Runtime& runtime) {
    if (handle == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const auto owners = static_cast<unsigned>(runtime.agents.size());
    return runtime.virtual_memory.import_handle(file, owners, handle->handle);
  });
}

hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* handle, void* address) {
  return with_runtime([&](Runtime& runtime) {
    if (handle == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return runtime.virtual_memory.retain(address, handle->handle);
  });
}

hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool,
                                                           hsa_amd_memory_type_t* type) {
  return with_runtime([&](Runtime& runtime) {
    if (pool == nullptr || type == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const auto found = runtime.virtual_memory.pool_of(handle.handle);
    if (!found) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    pool->handle = Runtime::pool_handle(found->pool);
    *type = MEMORY_TYPE_NONE;
    return HSA_STATUS_SUCCESS;
  });
}
