// SPDX-License-Identifier: Apache-2.0
// hsa_ext_amd.h, memory pools, access, locking, pointers, sharing between processes; hsa.h, "Memory".
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "tests/amd/hsa/api.h"
#include "tests/amd/hsa/newer.h"
#include "tests/amd/hsa/sharing.h"

namespace tf::amd::hsa {
namespace {

hsa_status_t pool_info(const Pool& pool, hsa_amd_memory_pool_info_t attribute, void* value) {
  switch (static_cast<unsigned>(attribute)) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT: return put(value, pool.segment);
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS: return put(value, pool.global_flags);
    case HSA_AMD_MEMORY_POOL_INFO_SIZE: return put(value, pool.bytes);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED: return put(value, pool.allocates);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT: return put(value, pool.allocates ? kPageBytes : 0);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
      return put(value, pool.allocates ? kGranuleBytes : 0);
    case HSA_AMD_MEMORY_POOL_INFO_LOCATION: return put(value, std::uint32_t{pool.owner == 0 ? 0U : 1U});
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL: return put(value, false);
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE: return put(value, pool.allocates ? pool.bytes : 0);
    default: return refuse_attribute("hsa_amd_memory_pool_get_info", attribute);
  }
}

// As where the host has no mapping of the GPU's memory, so that AMD's runtime copies by packets and engines.
hsa_amd_memory_pool_access_t access_of(const Agent& agent, const Pool& pool) {
  if (pool.owner == agent.index) return HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
  if (!agent.is_gpu() || !pool.allocates) return HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  return HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
}

hsa_status_t link_info(const Agent& agent, const Pool& pool, hsa_amd_agent_memory_pool_info_t attribute,
                       void* value) {
  const bool own = pool.owner == agent.index;
  switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS: return put(value, access_of(agent, pool));
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS: return put(value, own ? 0U : 1U);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: {
      if (own) return HSA_STATUS_SUCCESS;  // an entry for each hop
      const bool peers = agent.is_gpu() && pool.owner != 0;
      hsa_amd_memory_pool_link_info_t info{};
      info.atomic_support_32bit = true;
      info.atomic_support_64bit = true;
      info.coherent_support = true;
      info.link_type = peers ? HSA_AMD_LINK_INFO_TYPE_XGMI : HSA_AMD_LINK_INFO_TYPE_PCIE;
      info.numa_distance = peers ? 15 : 20;
      return put(value, info);
    }
    default: return refuse_attribute("hsa_amd_agent_memory_pool_get_info", attribute);
  }
}

hsa_amd_pointer_type_t type_of(Origin origin) {
  switch (origin) {
    case Origin::kPool:
    case Origin::kMapped: return HSA_EXT_POINTER_TYPE_HSA;
    case Origin::kLocked: return HSA_EXT_POINTER_TYPE_LOCKED;
    case Origin::kAttached: return HSA_EXT_POINTER_TYPE_IPC;
  }
  return HSA_EXT_POINTER_TYPE_UNKNOWN;
}

hsa_amd_pointer_info_t pointer_info(const Runtime& runtime, const void* pointer,
                                    const std::optional<Allocation>& allocation) {
  hsa_amd_pointer_info_t info{};
  info.type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  if (!allocation) {
    const auto reserved = runtime.virtual_memory.find(pointer);
    if (!reserved) return info;
    info.type = HSA_EXT_POINTER_TYPE_RESERVED_ADDR;
    info.agentBaseAddress = info.hostBaseAddress = reserved->base;
    info.sizeInBytes = reserved->bytes;
    return info;
  }
  info.type = type_of(allocation->origin);
  info.agentBaseAddress = reinterpret_cast<void*>(allocation->base);
  info.hostBaseAddress = allocation->owner == 0 ? info.agentBaseAddress : nullptr;
  info.sizeInBytes = allocation->bytes;
  info.userData = allocation->user_data;
  info.agentOwner = Runtime::handle_of(allocation->owner);
  info.global_flags = allocation->global_flags;
  return info;
}

// Whoever has had access keeps it.
hsa_status_t allow_mapped(Runtime& runtime, const void* pointer, AgentMask mask) {
  std::vector<Access> wanted;
  for (unsigned agent = 0; agent < kAgentsMax; agent++)
    if ((mask & agent_bit(agent)) != 0) wanted.push_back({agent, HSA_ACCESS_PERMISSION_RW});
  return runtime.virtual_memory.allow(pointer, wanted);
}

hsa_status_t list_agents(AgentMask mask, void* (*alloc)(size_t), uint32_t* count, hsa_agent_t** agents) {
  *count = static_cast<std::uint32_t>(__builtin_popcount(mask));
  *agents = static_cast<hsa_agent_t*>(alloc(*count * sizeof(hsa_agent_t)));
  if (*agents == nullptr && *count != 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  hsa_agent_t* next = *agents;
  for (unsigned agent = 0; agent < kAgentsMax; agent++) {
    if ((mask & agent_bit(agent)) != 0) *next++ = Runtime::handle_of(agent);
  }
  return HSA_STATUS_SUCCESS;
}

}  // namespace
}  // namespace tf::amd::hsa

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t handle,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t, void*),
                                                void* data) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* agent = runtime.agent(handle);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (std::size_t at = 0; at < runtime.pools.size() && status == HSA_STATUS_SUCCESS; at++) {
      if (runtime.pools[at].owner == agent->index) status = callback({Runtime::pool_handle(at)}, data);
    }
    return status;
  });
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute,
                                          void* value) {
  return with_runtime([&](Runtime& runtime) {
    const Pool* pool = runtime.pool(handle.handle);
    if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return pool_info(*pool, attribute, value);
  });
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent_handle, hsa_amd_memory_pool_t handle,
                                                hsa_amd_agent_memory_pool_info_t attribute, void* value) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* agent = runtime.agent(agent_handle);
    const Pool* pool = runtime.pool(handle.handle);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return link_info(*agent, *pool, attribute, value);
  });
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t bytes, uint32_t /*flags*/,
                                          void** ptr) {
  return with_runtime([&](Runtime& runtime) {
    const Pool* pool = runtime.pool(handle.handle);
    if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    if (ptr == nullptr || bytes == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!pool->allocates) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    *ptr = runtime.memory.allocate(pool->owner, bytes, pool->global_flags, agent_bit(pool->owner));
    return *ptr != nullptr ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  });
}

hsa_status_t hsa_amd_memory_pool_free(void* ptr) {
  return with_runtime([&](Runtime& runtime) {
    if (ptr == nullptr) return HSA_STATUS_SUCCESS;
    return runtime.memory.release(ptr) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
  });
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t* agents, const uint32_t* flags,
                                         const void* ptr) {
  return with_runtime([&](Runtime& runtime) {
    if (count == 0 || agents == nullptr || flags != nullptr || ptr == nullptr)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    AgentMask mask = 0;
    if (!runtime.mask_of(agents, count, mask)) return HSA_STATUS_ERROR_INVALID_AGENT;
    const std::optional<Allocation> allocation = runtime.memory.find(ptr);
    if (allocation && allocation->origin == Origin::kMapped) return allow_mapped(runtime, ptr, mask);
    return runtime.memory.allow(ptr, mask) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
  });
}

hsa_status_t hsa_amd_memory_lock(void* host_ptr, size_t bytes, hsa_agent_t* agents, int count,
                                 void** agent_ptr) {
  return with_runtime([&](Runtime& runtime) {
    if (host_ptr == nullptr || bytes == 0 || agent_ptr == nullptr || (agents == nullptr) != (count == 0) ||
        count < 0) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    AgentMask mask = runtime.all_agents();  // no list: all agents
    if (agents != nullptr && !runtime.mask_of(agents, static_cast<std::size_t>(count), mask)) {
      return HSA_STATUS_ERROR_INVALID_AGENT;
    }
    runtime.memory.lock(host_ptr, bytes, mask);
    *agent_ptr = host_ptr;
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_amd_memory_lock_to_pool(void* host_ptr, size_t bytes, hsa_agent_t* agents, int count,
                                         hsa_amd_memory_pool_t handle, uint32_t flags, void** agent_ptr) {
  return with_runtime([&](Runtime& runtime) {
    const Pool* pool = runtime.pool(handle.handle);
    if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    if (flags != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (pool->owner != 0) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    return hsa_amd_memory_lock(host_ptr, bytes, agents, count, agent_ptr);
  });
}

hsa_status_t hsa_amd_memory_unlock(void* host_ptr) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.memory.unlock(host_ptr) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}

hsa_status_t hsa_amd_pointer_info(const void* ptr, hsa_amd_pointer_info_t* info, void* (*alloc)(size_t),
                                  uint32_t* count, hsa_agent_t** accessible) {
  return with_runtime([&](Runtime& runtime) {
    if (ptr == nullptr || info == nullptr || info->size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const bool lists = alloc != nullptr && count != nullptr && accessible != nullptr;
    const std::optional<Allocation> allocation = runtime.memory.find(ptr);
    hsa_amd_pointer_info_t answer = pointer_info(runtime, ptr, allocation);
    answer.size = std::min(info->size, static_cast<std::uint32_t>(sizeof answer));
    std::memcpy(info, &answer, answer.size);
    return lists ? list_agents(allocation ? allocation->agents : 0, alloc, count, accessible)
                 : HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void* ptr, void* user_data) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.memory.set_user_data(ptr, user_data) ? HSA_STATUS_SUCCESS
                                                        : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}

hsa_status_t hsa_amd_memory_fill(void* ptr, uint32_t value, size_t count) {
  return with_runtime([&](Runtime& runtime) {
    if (ptr == nullptr || reinterpret_cast<std::uintptr_t>(ptr) % sizeof value != 0)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const std::optional<Allocation> allocation = runtime.memory.find(ptr);
    if (!allocation || count > (allocation->end() - reinterpret_cast<std::uint64_t>(ptr)) / sizeof value) {
      return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    }
    std::fill_n(static_cast<std::uint32_t*>(ptr), count, value);
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_memory_copy(void* target, const void* source, size_t bytes) {
  return with_runtime([&](Runtime&) {
    if (target == nullptr || source == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    std::memcpy(target, source, bytes);
    return HSA_STATUS_SUCCESS;
  });
}

// Of agents with HSA_PROFILE_FULL; AMD's runtime calls them for the host's memory too. Access comes from
// locking.
hsa_status_t hsa_memory_register(void* ptr, size_t bytes) {
  return with_runtime([&](Runtime&) {
    return ptr == nullptr && bytes != 0 ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
  });
}
hsa_status_t hsa_memory_deregister(void* /*ptr*/, size_t /*bytes*/) {
  return with_runtime([](Runtime&) { return HSA_STATUS_SUCCESS; });
}

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type) {
  return with_runtime([&](Runtime& runtime) {
    if (runtime.agent(agent) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    const bool known = type == HSA_AMD_COHERENCY_TYPE_COHERENT || type == HSA_AMD_COHERENCY_TYPE_NONCOHERENT;
    return known ? HSA_STATUS_SUCCESS
                 : HSA_STATUS_ERROR_INVALID_ARGUMENT;  // host's cores are coherent either way
  });
}

hsa_status_t hsa_amd_ipc_memory_create(void* ptr, size_t bytes, hsa_amd_ipc_memory_t* handle) {
  return with_runtime([&](Runtime& runtime) {
    if (ptr == nullptr || handle == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const std::optional<Allocation> allocation = runtime.memory.find(ptr);
    const std::optional<Place> place = runtime.memory.export_place(ptr, bytes);
    if (!place) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *handle = shared_handle(*place, allocation->owner, 0);
    return HSA_STATUS_SUCCESS;
  });
}

// The file has all the agent's memory, at the offset is what was asked for. It is the caller's.
hsa_status_t hsa_amd_portable_export_dmabuf(const void* address, size_t bytes, int* file, uint64_t* offset) {
  return with_runtime([&](Runtime& runtime) {
    if (address == nullptr || bytes == 0 || file == nullptr || offset == nullptr)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const std::optional<Allocation> allocation = runtime.memory.find(address);
    if (!allocation || allocation->origin != Origin::kPool || bytes > allocation->end() - number_of(address))
      return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    const auto place = runtime.memory.export_place(pointer_to(allocation->base), allocation->bytes);
    if (!place) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    *file = fcntl(place->descriptor, F_DUPFD_CLOEXEC, 0);
    *offset = place->offset + (number_of(address) - allocation->base);
    return *file >= 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  });
}

hsa_status_t hsa_amd_portable_close_dmabuf(int file) {
  return with_runtime([&](Runtime&) {
    return close(file) == 0 ? HSA_STATUS_SUCCESS : static_cast<hsa_status_t>(HSA_STATUS_ERROR_RESOURCE_FREE);
  });
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t* handle, size_t bytes, uint32_t count,
                                       const hsa_agent_t* agents, void** mapped) {
  return with_runtime([&](Runtime& runtime) {
    if (handle == nullptr || mapped == nullptr || (agents == nullptr) != (count == 0))
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    AgentMask mask = runtime.all_agents();
    if (agents != nullptr && !runtime.mask_of(agents, count, mask)) return HSA_STATUS_ERROR_INVALID_AGENT;
    const auto attached = attach_shared(runtime, *handle, mask);
    if (!attached) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (bytes > attached->bytes) {
      runtime.memory.detach(attached->base);
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    *mapped = attached->base;
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_amd_ipc_memory_detach(void* mapped) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.memory.detach(mapped) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  });
}
