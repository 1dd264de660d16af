// SPDX-License-Identifier: Apache-2.0
// Functions by name: this library's own.
#include "hipcore/abi/entry_points.h"

#include "proxy/base/thread_state.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

const int kInside = 0;

template <typename Status>
hipError_t entry(const abi::EntryQuery& query, void** function, Status* status) {
  return note_error(abi::get_entry(&kInside, query, function, status));
}

}  // namespace

hipError_t hipGetProcAddress(const char* symbol, void** function, int version, uint64_t flags,
                             hipDriverProcAddressQueryResult* status) {
  return entry({symbol, version, flags, false}, function, status);
}

hipError_t hipGetProcAddress_spt(const char* symbol, void** function, int version, uint64_t flags,
                                 hipDriverProcAddressQueryResult* status) {
  return entry({symbol, version, flags, true}, function, status);
}

hipError_t hipGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                  hipDriverEntryPointQueryResult* status) {
  return entry({.symbol = symbol, .flags = flags}, function, status);
}

hipError_t hipGetDriverEntryPoint_spt(const char* symbol, void** function, unsigned long long flags,
                                      hipDriverEntryPointQueryResult* status) {
  return entry({.symbol = symbol, .flags = flags, .per_thread_default = true}, function, status);
}

}  // namespace tf::proxy::local
