// SPDX-License-Identifier: Apache-2.0
// What AMD's runtime 5.7.1 imports and Debian 12's headers (5.2.3) do not declare. hsa_ext_amd.h has it since
// its version 1.2.
#pragma once

#include <hsa/hsa_ext_amd.h>

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
