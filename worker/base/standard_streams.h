// SPDX-License-Identifier: Apache-2.0
// The C library's standard output and error of a session process, from which the session takes what kernels
// print: AMD's runtime, NVIDIA's driver and the CPU runtime all print there.
//
// The descriptors 1 and 2 stay the operator's: the worker's log, sanitizers and the C library's own last
// words write to them directly. So `stdout` and `stderr` themselves are replaced, as glibc's manual allows
// ("Standard Streams").
#pragma once

#include "worker/base/kernel_output.h"

namespace tf::worker {

// From now on, and for as long as the process lives: `output` must, too. False: there is no memory for it,
// and nothing has changed.
bool capture_standard_streams(KernelOutput& output);

}  // namespace tf::worker
