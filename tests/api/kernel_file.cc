// SPDX-License-Identifier: Apache-2.0
// Where the tests' code object is.
#include "tests/api/module_fixture.h"

namespace tf::api_test {

const char* const kKernelFile = KERNEL_FILE;  // from CMake

}  // namespace tf::api_test
