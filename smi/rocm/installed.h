// SPDX-License-Identifier: Apache-2.0
// Which ROCm a program that is linked with librocm_smi64.so.1 was built for. Debian 12 gives ROCm 5.2's
// library that name, Debian 13 and sid ROCm 6's. Such programs come with their system's own library, so that
// one tells.
#pragma once

#include <string>

namespace tf::rsmi {

// 5 or 6: by the names of functions in this librocm_smi64. 0: no such file, no such library, or one of ours.
// The library is read and not loaded: it would run beside ours.
int rocm_of_library(const std::string& file);

// Of librocm_smi64.so.1 in the folder of this library; as above.
int rocm_beside(const std::string& library);

// 5 or 6: TF_ROCM_SMI, or else the ROCm of librocm_smi64.so.1 in the folder of the C library, or else 5.
int expected_rocm();

}  // namespace tf::rsmi
