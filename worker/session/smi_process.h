// SPDX-License-Identifier: Apache-2.0
// The SMI process of a worker with --metrics: asks the vendor's management library for readings of the
// devices, and writes them into the supervisor's page. It has no client and no HIP runtime. It stands behind
// the walls of a session process.
#pragma once

#include "worker/base/options.h"

namespace tf::worker {

// Until the supervisor is gone. Returns the exit code.
int run_smi_process(const Options& options);

}  // namespace tf::worker
