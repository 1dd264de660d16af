// SPDX-License-Identifier: Apache-2.0
// What io_uring can do on this machine, or why it cannot be used. Asks the kernel; any thread.
#pragma once

#include "tcp/options.h"
#include "transport/base/status.h"

namespace tf::tcp {

struct Probe {
  Status available;        // Ok, or the reason why this process cannot use io_uring
  UringFeatures features;  // what the kernel has; all false when not available
};

// The first call asks the kernel (some tens of microseconds), later ones repeat its answer.
const Probe& probe();
// Asks again. For tests and for `hip-remote info`.
Probe probe_now();
// The reason behind a failed io_uring_setup; `disabled_sysctl` is kernel.io_uring_disabled, -1 if unknown.
Status explain_setup_failure(int error_number, int disabled_sysctl);

}  // namespace tf::tcp
