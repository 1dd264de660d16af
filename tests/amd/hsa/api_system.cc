// SPDX-License-Identifier: Apache-2.0
// hsa.h, "Initialization and Shut Down", "System and Agent Information", "Instruction Set Architecture".
#include <hsa/hsa_ext_image.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/amd/hsa/api.h"
#include "tests/amd/hsa/newer.h"

namespace tf::amd::hsa {
namespace {

constexpr const char* kVendor = "hip-remote";
constexpr const char* kBuildVersion = "hip-remote's stand-in";
constexpr std::uint32_t kComputeUnits = 4;
constexpr std::uint32_t kWavesPerComputeUnit = 32;
constexpr std::uint32_t kSimdsPerComputeUnit = 4;

struct StatusText {
  hsa_status_t status;
  const char* text;
};
#define STATUS(name) \
  { static_cast<hsa_status_t>(HSA_STATUS_##name), "HSA_STATUS_" #name }
constexpr StatusText kStatusTexts[] = {STATUS(SUCCESS),
                                       STATUS(INFO_BREAK),
                                       STATUS(ERROR),
                                       STATUS(ERROR_INVALID_ARGUMENT),
                                       STATUS(ERROR_INVALID_QUEUE_CREATION),
                                       STATUS(ERROR_INVALID_ALLOCATION),
                                       STATUS(ERROR_INVALID_AGENT),
                                       STATUS(ERROR_INVALID_REGION),
                                       STATUS(ERROR_INVALID_SIGNAL),
                                       STATUS(ERROR_INVALID_QUEUE),
                                       STATUS(ERROR_OUT_OF_RESOURCES),
                                       STATUS(ERROR_INVALID_PACKET_FORMAT),
                                       STATUS(ERROR_RESOURCE_FREE),
                                       STATUS(ERROR_NOT_INITIALIZED),
                                       STATUS(ERROR_REFCOUNT_OVERFLOW),
                                       STATUS(ERROR_INCOMPATIBLE_ARGUMENTS),
                                       STATUS(ERROR_INVALID_INDEX),
                                       STATUS(ERROR_INVALID_ISA),
                                       STATUS(ERROR_INVALID_ISA_NAME),
                                       STATUS(ERROR_INVALID_CODE_OBJECT),
                                       STATUS(ERROR_INVALID_EXECUTABLE),
                                       STATUS(ERROR_FROZEN_EXECUTABLE),
                                       STATUS(ERROR_INVALID_SYMBOL_NAME),
                                       STATUS(ERROR_VARIABLE_ALREADY_DEFINED),
                                       STATUS(ERROR_VARIABLE_UNDEFINED),
                                       STATUS(ERROR_EXCEPTION),
                                       STATUS(ERROR_INVALID_CODE_SYMBOL),
                                       STATUS(ERROR_INVALID_EXECUTABLE_SYMBOL),
                                       STATUS(ERROR_INVALID_FILE),
                                       STATUS(ERROR_INVALID_CODE_OBJECT_READER),
                                       STATUS(ERROR_INVALID_CACHE),
                                       STATUS(ERROR_INVALID_WAVEFRONT),
                                       STATUS(ERROR_INVALID_SIGNAL_GROUP),
                                       STATUS(ERROR_INVALID_RUNTIME_STATE),
                                       STATUS(ERROR_FATAL),
                                       STATUS(ERROR_INVALID_MEMORY_POOL),
                                       STATUS(ERROR_MEMORY_APERTURE_VIOLATION),
                                       STATUS(ERROR_ILLEGAL_INSTRUCTION),
                                       STATUS(ERROR_MEMORY_FAULT),
                                       STATUS(CU_MASK_REDUCED)};
#undef STATUS

bool supports(const Runtime& runtime, std::uint16_t extension, std::uint16_t major) {
  return major == 1 && (extension == HSA_EXTENSION_AMD_LOADER ||
                        (extension == HSA_EXTENSION_IMAGES && has_images(runtime)));
}

hsa_status_t extensions_into(void* value, bool images) {
  std::uint8_t bits[128] = {};
  if (images) bits[HSA_EXTENSION_IMAGES / 8] |= 1U << HSA_EXTENSION_IMAGES % 8;
  bits[HSA_EXTENSION_AMD_LOADER / 8] |= 1U << HSA_EXTENSION_AMD_LOADER % 8;
  return put(value, bits);
}

// The attributes of hsa_agent_info_t.
hsa_status_t agent_info(const Runtime& runtime, const Agent& agent, unsigned attribute, void* value) {
  const Isa& isa = *runtime.isa;
  const bool gpu = agent.is_gpu();
  const auto of_gpu = [&](std::uint32_t number) { return put(value, gpu ? number : 0U); };
  switch (attribute) {
    case HSA_AGENT_INFO_NAME: return put_text(value, 64, gpu ? isa.name : isa.host_product);
    case HSA_AGENT_INFO_VENDOR_NAME: return put_text(value, 64, kVendor);
    case HSA_AGENT_INFO_FEATURE: return of_gpu(HSA_AGENT_FEATURE_KERNEL_DISPATCH);
    case HSA_AGENT_INFO_MACHINE_MODEL: return put(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_AGENT_INFO_PROFILE: return put(value, gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL);
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE: return put(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      return put(value, std::uint32_t{HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR});
    case HSA_AGENT_INFO_FAST_F16_OPERATION: return put(value, gpu);
    case HSA_AGENT_INFO_WAVEFRONT_SIZE: return of_gpu(isa.lanes);
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
      const std::uint16_t most = gpu ? amd::isa::kWorkGroupItemsMax : 0;
      const std::uint16_t dimensions[3] = {most, most, most};
      return put(value, dimensions);
    }
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE: return of_gpu(amd::isa::kWorkGroupItemsMax);
    case HSA_AGENT_INFO_GRID_MAX_DIM: {
      const std::uint32_t most = gpu ? UINT32_MAX : 0;
      return put(value, hsa_dim3_t{most, most, most});
    }
    case HSA_AGENT_INFO_GRID_MAX_SIZE: return of_gpu(UINT32_MAX);
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE: return of_gpu(32);
    case HSA_AGENT_INFO_QUEUES_MAX: return of_gpu(128);
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE: return of_gpu(kQueuePacketsMin);
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE: return of_gpu(kQueuePacketsMax);
    case HSA_AGENT_INFO_QUEUE_TYPE: return of_gpu(HSA_QUEUE_TYPE_MULTI);
    case HSA_AGENT_INFO_NODE: return put(value, std::uint32_t{agent.index});
    case HSA_AGENT_INFO_DEVICE: return put(value, gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
    case HSA_AGENT_INFO_CACHE_SIZE: {
      const std::uint32_t caches[4] = {16 * 1024, gpu ? 8U * 1024 * 1024 : 0U, 0, 0};
      return put(value, caches);
    }
    case HSA_AGENT_INFO_ISA: return put(value, hsa_isa_t{gpu ? isa.handle() : 0});
    case HSA_AGENT_INFO_EXTENSIONS: return extensions_into(value, gpu && has_images(runtime));
    case HSA_AGENT_INFO_VERSION_MAJOR: return put(value, std::uint16_t{1});
    case HSA_AGENT_INFO_VERSION_MINOR: return put(value, std::uint16_t{1});
    default: return refuse_attribute("hsa_agent_get_info", attribute);
  }
}

hsa_status_t uuid_into(const Agent& agent, void* value) {
  // "XX": no unique number (hsa_ext_amd.h, HSA_AMD_AGENT_INFO_UUID). Two agents of one process differ.
  char text[21] = "CPU-XX";
  if (agent.is_gpu()) std::snprintf(text, sizeof text, "GPU-%016x", 0x90a0U + agent.index);
  return put(value, text);
}

// The attributes of hsa_amd_agent_info_t.
hsa_status_t amd_agent_info(const Runtime& runtime, const Agent& agent, unsigned attribute, void* value) {
  const bool gpu = agent.is_gpu();
  const auto number = [&](std::uint32_t of_gpu, std::uint32_t of_host = 0) {
    return put(value, gpu ? of_gpu : of_host);
  };
  switch (attribute) {
    case HSA_AMD_AGENT_INFO_CHIP_ID: return number(0);
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE: return number(64, 64);
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
      return number(kComputeUnits, std::thread::hardware_concurrency());
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY: return number(1000, 1000);
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID: return number(agent.index);
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS: return number(0);
    case HSA_AMD_AGENT_INFO_BDFID: return number(agent.index << 8);
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH: return number(64);
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY: return number(1000);
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      return put_text(value, 64, gpu ? runtime.isa->product : runtime.isa->host_product);
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU: return number(kWavesPerComputeUnit);
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU: return number(kSimdsPerComputeUnit);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES: return number(1);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE: return number(1);
    case HSA_AMD_AGENT_INFO_HDP_FLUSH: return put(value, hsa_amd_hdp_flush_t{});
    case HSA_AMD_AGENT_INFO_DOMAIN: return number(0);
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
      return put(value, false);  // work-groups do not all run at once
    case HSA_AMD_AGENT_INFO_UUID: return uuid_into(agent, value);
    case HSA_AMD_AGENT_INFO_ASIC_REVISION: return number(0);
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS: return put(value, !gpu);
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT: return number(kComputeUnits);
    case HSA_AMD_AGENT_INFO_MEMORY_AVAIL:
      return put(value, std::uint64_t{runtime.memory.available(agent.index)});
    case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY:
      return put(value, gpu ? amd::isa::kRealTimeFrequency : std::uint64_t{0});
    case HSA_AMD_AGENT_INFO_NUM_SDMA_ENG: return number(2);  // one for each direction
    case HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG: return number(0);
    case HSA_AMD_AGENT_INFO_NUM_XCC: return number(gpu ? 1 : 0);
    case HSA_AMD_AGENT_INFO_NEAREST_CPU: return put(value, Runtime::handle_of(0));
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX: return put(value, std::uint64_t{gpu ? runtime.gpu_bytes : 0});
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
      return put(value, runtime.scratch_limits[agent.index].load());
    case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES: return put(value, std::uint64_t{0});  // no APU
    default: return refuse_attribute("hsa_agent_get_info", attribute);
  }
}

hsa_status_t isa_info(const Isa& isa, hsa_isa_info_t attribute, void* value) {
  switch (attribute) {
    case HSA_ISA_INFO_NAME_LENGTH:
      return put(value, static_cast<std::uint32_t>(std::strlen(isa.full_name) + 1));
    case HSA_ISA_INFO_NAME: return put_text(value, std::strlen(isa.full_name) + 1, isa.full_name);
    case HSA_ISA_INFO_MACHINE_MODELS: {
      const bool models[2] = {false, true};
      return put(value, models);
    }
    case HSA_ISA_INFO_PROFILES: {
      const bool profiles[2] = {true, false};
      return put(value, profiles);
    }
    case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
    case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: {
      const bool modes[3] = {false, false, true};
      return put(value, modes);
    }
    case HSA_ISA_INFO_FAST_F16_OPERATION: return put(value, true);
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM: {
      constexpr std::uint16_t kMost = amd::isa::kWorkGroupItemsMax;
      const std::uint16_t dimensions[3] = {kMost, kMost, kMost};
      return put(value, dimensions);
    }
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE: return put(value, amd::isa::kWorkGroupItemsMax);
    case HSA_ISA_INFO_GRID_MAX_DIM: return put(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
    case HSA_ISA_INFO_GRID_MAX_SIZE: return put(value, std::uint64_t{UINT64_MAX});
    case HSA_ISA_INFO_FBARRIER_MAX_SIZE: return put(value, std::uint32_t{32});
    default: return refuse_attribute("hsa_isa_get_info_alt", attribute);
  }
}

}  // namespace
}  // namespace tf::amd::hsa

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_init() {
  const hsa_status_t status = Runtime::init();
  if (status != HSA_STATUS_SUCCESS || std::getenv("HSA_STANDIN_ISA") == nullptr) return status;
  const Isa& isa = *Runtime::current()->isa;
  std::string library;
  if (library_knows(isa, __builtin_return_address(0), library)) return status;
  Runtime::shut_down();
  return refuse("hsa_init", std::string(isa.name) + ", which " + library + " does not know",
                HSA_STATUS_ERROR);
}
hsa_status_t hsa_shut_down() { return Runtime::shut_down(); }

hsa_status_t hsa_status_string(hsa_status_t status, const char** text) {
  if (text == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const StatusText& known : kStatusTexts) {
    if (known.status != status) continue;
    *text = known.text;
    return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value) {
  return with_runtime([&](Runtime& runtime) {
    if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (static_cast<unsigned>(attribute)) {
      case HSA_SYSTEM_INFO_VERSION_MAJOR: return put(value, std::uint16_t{1});
      case HSA_SYSTEM_INFO_VERSION_MINOR: return put(value, std::uint16_t{1});
      case HSA_SYSTEM_INFO_TIMESTAMP: return put(value, timestamp_ns());
      case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY: return put(value, kTimestampFrequency);
      case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT: return put(value, kForever);
      case HSA_SYSTEM_INFO_ENDIANNESS: return put(value, HSA_ENDIANNESS_LITTLE);
      case HSA_SYSTEM_INFO_MACHINE_MODEL: return put(value, HSA_MACHINE_MODEL_LARGE);
      case HSA_SYSTEM_INFO_EXTENSIONS: return extensions_into(value, has_images(runtime));
      case HSA_AMD_SYSTEM_INFO_BUILD_VERSION: return put(value, kBuildVersion);
      case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED: return put(value, false);
      case HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED:
      case HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED: return put(value, true);
      case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
      case HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED:
      case HSA_AMD_SYSTEM_INFO_XNACK_ENABLED: return put(value, false);
      default: return refuse_attribute("hsa_system_get_info", attribute);
    }
  });
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t /*minor*/,
                                            bool* result) {
  return with_runtime([&](Runtime& runtime) {
    if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = supports(runtime, extension, major);
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                           uint16_t /*minor*/, bool* result) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* of = runtime.agent(agent);
    if (of == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = supports(runtime, extension, major) && (of->is_gpu() || extension != HSA_EXTENSION_IMAGES);
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes,
                                                  void* table) {
  return with_runtime([&](Runtime&) {
    if (table == nullptr || bytes == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    // AMD's runtimes call the functions of images by their names.
    if (extension == HSA_EXTENSION_AMD_LOADER && major == 1) return loader_table(bytes, table);
    return refuse("hsa_system_get_major_extension_table",
                  "extension " + hexadecimal(extension) + " version " + std::to_string(major),
                  HSA_STATUS_ERROR);
  });
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void*), void* data) {
  return with_runtime([&](Runtime& runtime) {
    if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (unsigned at = 0; at < runtime.agents.size() && status == HSA_STATUS_SUCCESS; at++) {
      status = callback(Runtime::handle_of(at), data);
    }
    return status;
  });
}

hsa_status_t hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void* value) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* agent = runtime.agent(handle);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const unsigned number = attribute;
    if (number >= HSA_AMD_AGENT_INFO_CHIP_ID) return amd_agent_info(runtime, *agent, number, value);
    return number >= HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS ? image_info(runtime, *agent, number, value)
                                                              : agent_info(runtime, *agent, number, value);
  });
}

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void* data) {
  return with_runtime([&](Runtime& runtime) {
    if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return runtime.events.set_handler(callback, data) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
  });
}

// Scratch memory is a kernel's while it runs: there is nothing to keep or to give back.
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t handle, size_t bytes) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* const gpu = runtime.gpu(handle);
    if (gpu == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (bytes > runtime.gpu_bytes) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    runtime.scratch_limits[gpu->index] = bytes;
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t handle, hsa_status_t (*callback)(hsa_isa_t, void*),
                                    void* data) {
  return with_runtime([&](Runtime& runtime) {
    const Agent* agent = runtime.agent(handle);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return agent->is_gpu() ? callback({runtime.isa->handle()}, data) : HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void* value) {
  return with_runtime([&](Runtime& runtime) {
    if (isa.handle != runtime.isa->handle()) return HSA_STATUS_ERROR_INVALID_ISA;
    if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return isa_info(*runtime.isa, attribute, value);
  });
}
