// SPDX-License-Identifier: Apache-2.0
// AMD's names of math functions and integer helpers, for NVIDIA GPUs: the CPU's, compiled as device code on
// top of this folder's math.h.
#include <math.h>

HIPR_DEVICE_BEGIN
#include <integers.cc>
#include <math.cc>
HIPR_DEVICE_END
