// SPDX-License-Identifier: Apache-2.0
// AMD's math library names for NVIDIA GPUs: the CPU's, compiled as device code on top of this folder's
// math.h.
#include <math.h>

HIPR_DEVICE_BEGIN
#include <math.cc>
HIPR_DEVICE_END
