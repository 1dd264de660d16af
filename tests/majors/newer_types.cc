// SPDX-License-Identifier: Apache-2.0
// Compiles the sizes and offsets of the newer types.
#include "hipcore/newer/hip_types.h"
#include "hipcore/newer/layout_checks.h"
