// SPDX-License-Identifier: Apache-2.0
// What the exported functions share.
#pragma once

#include <cstring>

#include "tests/amd/hsa/report.h"
#include "tests/amd/hsa/runtime.h"

namespace tf::amd::hsa {

// Calls `body(runtime)` between hsa_init and hsa_shut_down.
template <typename Body>
hsa_status_t with_runtime(Body&& body) {
  Runtime* runtime = Runtime::current();
  return runtime == nullptr ? HSA_STATUS_ERROR_NOT_INITIALIZED : body(*runtime);
}

// The value of an attribute, at an address that may have any alignment.
template <typename Value>
hsa_status_t put(void* target, const Value& value) {
  std::memcpy(target, &value, sizeof value);
  return HSA_STATUS_SUCCESS;
}

// Text of at most `bytes`, filled with zeros.
inline hsa_status_t put_text(void* target, std::size_t bytes, const std::string& text) {
  std::strncpy(static_cast<char*>(target), text.c_str(), bytes);
  static_cast<char*>(target)[bytes - 1] = '\0';
  return HSA_STATUS_SUCCESS;
}

inline hsa_status_t refuse_attribute(const char* function, unsigned attribute) {
  return refuse(function, "attribute " + hexadecimal(attribute), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

// hsa_ven_amd_loader, for hsa_system_get_major_extension_table.
hsa_status_t loader_table(std::size_t bytes, void* table);

// The attributes of hsa_ext_image.h.
hsa_status_t image_info(const Runtime& runtime, const Agent& agent, unsigned attribute, void* value);
bool has_images(const Runtime& runtime);

}  // namespace tf::amd::hsa
