// SPDX-License-Identifier: Apache-2.0
// What AMD's runtimes 5.7.1 and 6.4.3 import or ask for, and Debian 12's headers (5.2.3) do not declare.
// hsa_ext_amd.h has it since its version 1.2, virtual memory since 1.4 (as in Debian 13), with alignment
// since 1.6.
#pragma once

#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>

#include <cstddef>
#include <cstdint>

#if HSA_AMD_INTERFACE_VERSION_MAJOR == 1 && HSA_AMD_INTERFACE_VERSION_MINOR < 2

constexpr unsigned HSA_AMD_AGENT_INFO_MEMORY_AVAIL = 0xA015;
constexpr unsigned HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY = 0xA016;
constexpr unsigned HSA_AMD_AGENT_INFO_NUM_SDMA_ENG = 0xA10A;
constexpr unsigned HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG = 0xA10B;

// Engines by one bit each.
enum hsa_amd_sdma_engine_id_t : std::uint32_t { HSA_AMD_SDMA_ENGINE_0 = 1, HSA_AMD_SDMA_ENGINE_1 = 2 };

extern "C" {
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* target, hsa_agent_t target_agent, const void* source,
                                                 hsa_agent_t source_agent, size_t bytes, uint32_t count,
                                                 const hsa_signal_t* signals, hsa_signal_t completion,
                                                 hsa_amd_sdma_engine_id_t engine, bool force_copy_on_sdma);
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t target_agent, hsa_agent_t source_agent,
                                               uint32_t* engines);
}

#endif

#if HSA_AMD_INTERFACE_VERSION_MAJOR == 1 && HSA_AMD_INTERFACE_VERSION_MINOR < 4

constexpr unsigned HSA_AMD_AGENT_INFO_NUM_XCC = 0xA111;
constexpr unsigned HSA_AMD_AGENT_INFO_NEAREST_CPU = 0xA113;
constexpr unsigned HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES = 0xA114;  // 64 bits
constexpr unsigned HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED = 0x203;
constexpr unsigned HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED = 0x204;
constexpr unsigned HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED = 0x205;
constexpr unsigned HSA_AMD_SYSTEM_INFO_XNACK_ENABLED = 0x206;

struct hsa_amd_vmem_alloc_handle_t {
  std::uint64_t handle;
};
enum hsa_amd_memory_type_t : std::uint32_t { MEMORY_TYPE_NONE, MEMORY_TYPE_PINNED };
struct hsa_amd_memory_access_desc_t {
  hsa_access_permission_t permissions;
  hsa_agent_t agent_handle;
};

extern "C" {
hsa_status_t hsa_amd_vmem_address_reserve(void** address, size_t bytes, uint64_t wanted, uint64_t flags);
hsa_status_t hsa_amd_vmem_address_free(void* address, size_t bytes);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t bytes, hsa_amd_memory_type_t type,
                                        uint64_t flags, hsa_amd_vmem_alloc_handle_t* handle);
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle);
hsa_status_t hsa_amd_vmem_map(void* address, size_t bytes, size_t offset, hsa_amd_vmem_alloc_handle_t handle,
                              uint64_t flags);
hsa_status_t hsa_amd_vmem_unmap(void* address, size_t bytes);
hsa_status_t hsa_amd_vmem_set_access(void* address, size_t bytes, const hsa_amd_memory_access_desc_t* wanted,
                                     size_t count);
hsa_status_t hsa_amd_vmem_get_access(void* address, hsa_access_permission_t* permissions, hsa_agent_t agent);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int* file, hsa_amd_vmem_alloc_handle_t handle,
                                                  uint64_t flags);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, hsa_amd_vmem_alloc_handle_t* handle);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* handle, void* address);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool,
                                                           hsa_amd_memory_type_t* type);
}

#endif

#if HSA_AMD_INTERFACE_VERSION_MAJOR == 1 && HSA_AMD_INTERFACE_VERSION_MINOR < 6

// Of hsa_amd_memory_pool_get_info.
constexpr unsigned HSA_AMD_MEMORY_POOL_INFO_LOCATION = 17;  // 0: the host's, 1: a GPU's
constexpr unsigned HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE = 18;
// Of hsa_agent_get_info, 64 bits each.
constexpr unsigned HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX = 0xA116;
constexpr unsigned HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT = 0xA117;
// Of hsa_amd_pointer_info.
constexpr auto HSA_EXT_POINTER_TYPE_RESERVED_ADDR = static_cast<hsa_amd_pointer_type_t>(5);

extern "C" hsa_status_t hsa_amd_vmem_address_reserve_align(void** address, size_t bytes, uint64_t wanted,
                                                           uint64_t alignment, uint64_t flags);

#endif

#if HSA_AMD_INTERFACE_VERSION_MAJOR == 1 && HSA_AMD_INTERFACE_VERSION_MINOR < 15

struct hsa_ext_sampler_descriptor_v2_t {
  hsa_ext_sampler_coordinate_mode32_t coordinate_mode;
  hsa_ext_sampler_filter_mode32_t filter_mode;
  hsa_ext_sampler_addressing_mode32_t address_modes[3];
};

#endif

// Later than these. Declared twice, they are the same functions.
extern "C" {
hsa_status_t hsa_amd_enable_logging(uint8_t* flags, void* file);
// Of ROCm 7.2's library, and before.
hsa_status_t hsa_amd_portable_export_dmabuf(const void* address, size_t bytes, int* file, uint64_t* offset);
hsa_status_t hsa_amd_portable_close_dmabuf(int file);
hsa_status_t hsa_amd_ais_file_read(uint64_t file, void* address, uint64_t bytes, int64_t offset,
                                   uint64_t* copied, int32_t* status);
hsa_status_t hsa_amd_ais_file_write(uint64_t file, void* address, uint64_t bytes, int64_t offset,
                                    uint64_t* copied, int32_t* status);
hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t* descriptor,
                                       hsa_ext_sampler_t* sampler);
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t bytes);
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t target_agent, hsa_agent_t source_agent,
                                                      uint32_t* engines);
}
