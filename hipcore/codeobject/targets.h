// SPDX-License-Identifier: Apache-2.0
// The targets that code objects are built for, as the ids of bundles and AMD's devices name them:
// "gfx90a:sramecc+:xnack-", or a generic one, "gfx9-4-generic". (Of NVIDIA's: nvidia.h.) Pure functions.
#pragma once

#include <string_view>

namespace tf::codeobject {

// "gfx90a:xnack+" from "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"; empty for host entries.
std::string_view target_of_entry(std::string_view id);

// The generic processor whose code `processor` runs ("gfx942": "gfx9-4-generic"); empty if there is none.
std::string_view generic_processor(std::string_view processor);

// Whether code built for `entry_target` runs on a device that calls itself `device_target`: it is for the
// same processor, or for its generic one, and requires no feature that the device has set otherwise. A higher
// result is a more specific match: code for the processor itself precedes generic code, and then the number
// of features counts. Negative is no match.
int match_target(std::string_view entry_target, std::string_view device_target);

}  // namespace tf::codeobject
