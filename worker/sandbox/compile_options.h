// SPDX-License-Identifier: Apache-2.0
// Which options of hiprtc a client may give to the worker's compilers. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "transport/base/status.h"

namespace tf::worker {

// Ok: all of them are of those that say how a source is compiled, or where it looks for headers. kPermission
// names the first that is not: it may name files to be read, written or loaded, other programs, or inputs.
// What is unknown is refused.
Status check_compile_options(const std::vector<std::string>& options);

}  // namespace tf::worker
