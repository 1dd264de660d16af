// SPDX-License-Identifier: Apache-2.0
// The numbers and names are the vendor's header's.
#include "hipcore/errors/api_names.h"

#include <hip/hip_runtime_api.h>
// After the types that it uses.
#include <hip/amd_detail/hip_prof_str.h>

namespace tf::hipdata {

const char* api_name(std::uint32_t id) { return hip_api_name(id); }

}  // namespace tf::hipdata
