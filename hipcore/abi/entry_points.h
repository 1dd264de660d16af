// SPDX-License-Identifier: Apache-2.0
// Functions of HIP by name, as hipGetProcAddress and hipGetDriverEntryPoint give them. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "hipcore/newer/hip_types.h"

namespace tf::abi {

// Flags of hipGetProcAddress (since 7.2) and hipGetDriverEntryPoint.
inline constexpr std::uint64_t kDefaultEntry = 0;  // as the program was compiled
inline constexpr std::uint64_t kLegacyStreamEntry = 1;
inline constexpr std::uint64_t kPerThreadStreamEntry = 2;

struct EntryQuery {
  const char* symbol = nullptr;
  // As HIP's documentation has it, 100 * major + minor; programs also pass HIP_VERSION. From 600 on
  // hipGetDeviceProperties and hipChooseDevice mean their newer form.
  int version = 600;
  std::uint64_t flags = kDefaultEntry;
  bool per_thread_default = false;  // the program is compiled with a default stream for each thread
};

// The function of the library in which `inside` lies; null: it exports none of that name.
void* find_entry(const void* inside, const EntryQuery& query);

// The whole of both functions. `Status`: the enumeration of the one or the other, with equal numbers.
template <typename Status>
hipError_t get_entry(const void* inside, const EntryQuery& query, void** function, Status* status) {
  if (query.symbol == nullptr || *query.symbol == '\0' || function == nullptr ||
      query.flags > kPerThreadStreamEntry)
    return hipErrorInvalidValue;
  *function = find_entry(inside, query);
  constexpr int kFound = HIP_GET_PROC_ADDRESS_SUCCESS;
  constexpr int kNotFound = HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (status != nullptr) *status = static_cast<Status>(*function != nullptr ? kFound : kNotFound);
  return *function != nullptr ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace tf::abi
