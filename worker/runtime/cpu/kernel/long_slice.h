// SPDX-License-Identifier: Apache-2.0
// Threads that run kernels give way to those that pass calls on.
#pragma once

namespace tf::cpu {

// From now on the calling thread asks the system's scheduler for slices twice as long as usual. Linux 6.12
// and later lets a thread that wakes up with a shorter slice run at once, so calls do not wait behind
// kernels; the thread's part of the processors stays the same. False: this Linux does not know slices of a
// thread's own.
bool take_long_slices();

}  // namespace tf::cpu
