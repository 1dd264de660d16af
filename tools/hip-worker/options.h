// SPDX-License-Identifier: Apache-2.0
// hip-worker's command line: options over environment over defaults.
#pragma once

#include "worker/base/options.h"

namespace tf::worker {

enum class ParseResult { kRun, kExitOk, kExitError };

// Prints --help to stdout, errors to stderr. kRun: `options` is complete and consistent.
ParseResult parse_options(int argc, char** argv, Options& options);

}  // namespace tf::worker
