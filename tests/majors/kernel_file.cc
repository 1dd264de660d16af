// SPDX-License-Identifier: Apache-2.0
// Where the tests' code object is.
#include "tests/majors/major.h"

namespace tf::majors {

const char* const kKernelFile = KERNEL_FILE;  // from CMake

}  // namespace tf::majors
