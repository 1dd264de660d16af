// SPDX-License-Identifier: Apache-2.0
// Files made by hipcc-cpu, named on the command line. Set once by main().
#pragma once

#include <string>

namespace tf::codeobject::testing {

inline std::string cpu_code_object;  // of the executor's test
inline std::string portable_bundle;  // of the API tests

}  // namespace tf::codeobject::testing
