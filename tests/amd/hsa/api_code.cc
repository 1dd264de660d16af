// SPDX-License-Identifier: Apache-2.0
// hsa.h, "Executable"; hsa_ven_amd_loader.h 1.00 and 1.01.
#include <algorithm>

#include "tests/amd/hsa/api.h"

namespace tf::amd::hsa {
namespace {

// The kernel descriptor (LLVM's "Kernel Descriptor"), as far as hsa_executable_symbol_get_info tells of it.
struct DescriptorFields {
  std::uint32_t group_segment_bytes;
  std::uint32_t private_segment_bytes;
  std::uint32_t kernarg_bytes;
  std::uint32_t reserved[11];
  std::uint16_t properties;  // at byte 56
};
constexpr std::uint16_t kUsesDynamicStack = 1U << 11;
constexpr std::uint32_t kKernargAlignment = 16;  // the least that AMD's ABI promises

hsa_status_t kernel_info(const Symbol& symbol, unsigned attribute, void* value) {
  const auto& fields = *reinterpret_cast<const DescriptorFields*>(symbol.address);
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT: return put(value, symbol.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE: return put(value, fields.kernarg_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT: return put(value, kKernargAlignment);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE: return put(value, fields.group_segment_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
      return put(value, fields.private_segment_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;  // AMD's runtime asks it of every symbol
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
      return put(value, (fields.properties & kUsesDynamicStack) != 0);
    default: return refuse_attribute("hsa_executable_symbol_get_info of a kernel", attribute);
  }
}

hsa_status_t variable_info(const Symbol& symbol, unsigned attribute, void* value) {
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS: return put(value, symbol.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
      return put(value, static_cast<std::uint32_t>(symbol.bytes));
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION: return put(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
      return put(value, symbol.is_const ? HSA_VARIABLE_SEGMENT_READONLY : HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST: return put(value, symbol.is_const);
    default: return refuse_attribute("hsa_executable_symbol_get_info of a variable", attribute);
  }
}

hsa_status_t symbol_info(const Symbol& symbol, unsigned attribute, void* value) {
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE: return put(value, symbol.kind);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
      return put(value, static_cast<std::uint32_t>(symbol.name.size()));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
      std::memcpy(value, symbol.name.data(), symbol.name.size());  // without a zero (hsa.h)
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH: return put(value, std::uint32_t{0});
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME: return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT: return put(value, Runtime::handle_of(symbol.agent));
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
      return put(value, symbol.is_global ? HSA_SYMBOL_LINKAGE_PROGRAM : HSA_SYMBOL_LINKAGE_MODULE);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION: return put(value, true);
    default:
      return symbol.kind == HSA_SYMBOL_KIND_KERNEL ? kernel_info(symbol, attribute, value)
                                                   : variable_info(symbol, attribute, value);
  }
}

hsa_status_t query_host_address(const void* device_address, const void** host_address) {
  return with_runtime([&](Runtime& runtime) {
    if (host_address == nullptr || runtime.loader.code_at(device_address) == nullptr) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    *host_address = device_address;
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t* descriptors, size_t* count) {
  return with_runtime([&](Runtime& runtime) {
    if (count == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const std::vector<LoadedCode*> all = runtime.loader.all_code();
    if (descriptors == nullptr) {
      *count = all.size();
      return HSA_STATUS_SUCCESS;
    }
    if (*count != all.size()) return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    for (const LoadedCode* code : all) {
      *descriptors++ = {Runtime::handle_of(code->agent),
                        {reinterpret_cast<std::uint64_t>(code->executable)},
                        HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
                        code->file.data(),
                        code->file.size(),
                        0,
                        code->base,
                        code->bytes};
    }
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t query_executable(const void* device_address, hsa_executable_t* executable) {
  return with_runtime([&](Runtime& runtime) {
    const LoadedCode* code = runtime.loader.code_at(device_address);
    if (executable == nullptr || code == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    executable->handle = reinterpret_cast<std::uint64_t>(code->executable);
    return HSA_STATUS_SUCCESS;
  });
}

// Tells the callback of each of an executable's parts, until it does not succeed.
template <typename Handle, typename Parts, typename HandleOf>
hsa_status_t iterate(hsa_executable_t handle, hsa_status_t (*callback)(hsa_executable_t, Handle, void*),
                     void* data, Parts Executable::*parts, HandleOf handle_of) {
  return with_runtime([&](Runtime& runtime) {
    const Executable* executable = runtime.loader.executable(handle);
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (const auto& part : executable->*parts)
      if (status == HSA_STATUS_SUCCESS) status = callback(handle, handle_of(part), data);
    return status;
  });
}

hsa_status_t iterate_loaded_code_objects(hsa_executable_t handle,
                                         hsa_status_t (*callback)(hsa_executable_t, hsa_loaded_code_object_t,
                                                                  void*),
                                         void* data) {
  return iterate(handle, callback, data, &Executable::code, [](const auto& code) {
    return hsa_loaded_code_object_t{reinterpret_cast<std::uint64_t>(code.get())};
  });
}

hsa_status_t loaded_code_object_info(hsa_loaded_code_object_t handle,
                                     hsa_ven_amd_loader_loaded_code_object_info_t attribute, void* value) {
  return with_runtime([&](Runtime& runtime) {
    const LoadedCode* code = runtime.loader.loaded(handle);
    if (code == nullptr || value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch (attribute) {
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE: return put(value, code->executable);
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
        return put(value, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT);
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
        return put(value, Runtime::handle_of(code->agent));
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
        return put(value, HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
        return put(value, code->file.data());
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
        return put(value, std::uint64_t{code->file.size()});
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
        return put(value, reinterpret_cast<std::int64_t>(code->base));
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE: return put(value, code->base);
      case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
        return put(value, std::uint64_t{code->bytes});
      default: return refuse_attribute("hsa_ven_amd_loader_loaded_code_object_get_info", attribute);
    }
  });
}

}  // namespace

hsa_status_t loader_table(std::size_t bytes, void* table) {
  const hsa_ven_amd_loader_1_01_pfn_t functions{query_host_address, query_segment_descriptors,
                                                query_executable, iterate_loaded_code_objects,
                                                loaded_code_object_info};
  std::memset(table, 0, bytes);
  std::memcpy(table, &functions, std::min(bytes, sizeof functions));
  return HSA_STATUS_SUCCESS;
}

}  // namespace tf::amd::hsa

using namespace tf::amd::hsa;  // the C functions below

hsa_status_t hsa_code_object_reader_create_from_memory(const void* bytes, size_t size,
                                                       hsa_code_object_reader_t* reader) {
  return with_runtime([&](Runtime& runtime) {
    if (bytes == nullptr || size == 0 || reader == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *reader = runtime.loader.add_reader({static_cast<const char*>(bytes), size});
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  return with_runtime([&](Runtime& runtime) {
    return runtime.loader.remove_reader(reader) ? HSA_STATUS_SUCCESS
                                                : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  });
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t /*profile*/, hsa_default_float_rounding_mode_t /*mode*/,
                                       const char* /*options*/, hsa_executable_t* executable) {
  return with_runtime([&](Runtime& runtime) {
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *executable = runtime.loader.add_executable();
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  return with_runtime(
      [&](Runtime& runtime) { return runtime.loader.remove_executable(runtime, executable); });
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent_handle,
                                                   hsa_code_object_reader_t reader, const char* /*options*/,
                                                   hsa_loaded_code_object_t* loaded) {
  return with_runtime([&](Runtime& runtime) {
    Executable* executable = runtime.loader.executable(handle);
    Agent* agent = runtime.gpu(agent_handle);
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    return runtime.loader.load(runtime, *executable, *agent, reader, loaded);
  });
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t handle, hsa_agent_t agent_handle,
                                                         const char* name, void* address) {
  return with_runtime([&](Runtime& runtime) {
    Executable* executable = runtime.loader.executable(handle);
    const Agent* agent = runtime.agent(agent_handle);
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (name == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (executable->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    const bool added =
        executable->defined
            .emplace(std::pair{agent->index, std::string(name)}, reinterpret_cast<std::uint64_t>(address))
            .second;
    return added ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
  });
}

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char* /*options*/) {
  return with_runtime([&](Runtime& runtime) {
    Executable* executable = runtime.loader.executable(handle);
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (executable->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    executable->frozen = true;
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char* name,
                                               const hsa_agent_t* agent_handle,
                                               hsa_executable_symbol_t* symbol) {
  return with_runtime([&](Runtime& runtime) {
    const Executable* executable = runtime.loader.executable(handle);
    if (executable == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (name == nullptr || symbol == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Agent* agent = agent_handle == nullptr ? nullptr : runtime.agent(*agent_handle);
    if (agent_handle != nullptr && agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    const auto found = executable->symbols.find({agent == nullptr ? 0 : agent->index, name});
    if (found == executable->symbols.end()) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    symbol->handle = found->second->handle;
    return HSA_STATUS_SUCCESS;
  });
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t handle,
                                            hsa_status_t (*callback)(hsa_executable_t,
                                                                     hsa_executable_symbol_t, void*),
                                            void* data) {
  return iterate(handle, callback, data, &Executable::listed,
                 [](const Symbol* symbol) { return hsa_executable_symbol_t{symbol->handle}; });
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle,
                                            hsa_executable_symbol_info_t attribute, void* value) {
  return with_runtime([&](Runtime& runtime) {
    const Symbol* symbol = runtime.loader.symbol(handle);
    if (symbol == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
    if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return symbol_info(*symbol, attribute, value);
  });
}
