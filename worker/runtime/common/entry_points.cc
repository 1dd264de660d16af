// SPDX-License-Identifier: Apache-2.0
// Functions by name: this library's own.
#include "hipcore/abi/entry_points.h"

#include "worker/runtime/common/api.h"

using namespace tf;
using namespace tf::runtime;

namespace {

const int kInside = 0;

template <typename Status>
hipError_t entry(const abi::EntryQuery& query, void** function, Status* status) {
  return host_api([&] { return abi::get_entry(&kInside, query, function, status); });
}

}  // namespace

extern "C" {

TF_EXPORT hipError_t hipGetProcAddress(const char* symbol, void** function, int version, uint64_t flags,
                                       hipDriverProcAddressQueryResult* status) {
  return entry({symbol, version, flags, false}, function, status);
}

TF_EXPORT hipError_t hipGetProcAddress_spt(const char* symbol, void** function, int version, uint64_t flags,
                                           hipDriverProcAddressQueryResult* status) {
  return entry({symbol, version, flags, true}, function, status);
}

TF_EXPORT hipError_t hipGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                            hipDriverEntryPointQueryResult* status) {
  return entry({.symbol = symbol, .flags = flags}, function, status);
}

TF_EXPORT hipError_t hipGetDriverEntryPoint_spt(const char* symbol, void** function, unsigned long long flags,
                                                hipDriverEntryPointQueryResult* status) {
  return entry({.symbol = symbol, .flags = flags, .per_thread_default = true}, function, status);
}

}  // extern "C"
