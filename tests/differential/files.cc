// SPDX-License-Identifier: Apache-2.0
// Where the code objects of this build lie.
#include "tests/differential/case.h"

namespace tf::differential {

const char* const kKernelFile = KERNEL_FILE;    // from CMake
const char* const kTextureFile = TEXTURE_FILE;  // from CMake

}  // namespace tf::differential
