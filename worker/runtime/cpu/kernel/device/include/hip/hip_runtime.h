// SPDX-License-Identifier: Apache-2.0
// The vendor's runtime header, and what HIP 6 and 7 add to it where it is older.
#pragma once

#include_next <hip/hip_runtime.h>
#include <hip/hip_version.h>

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
#include <hip/hipr_internal.h>
#endif

#if defined(__HIP__) && (HIP_VERSION_MAJOR < 6 || (HIP_VERSION_MAJOR == 6 && HIP_VERSION_MINOR < 2))
#include <hip/hipr_wave_sync.h>
#endif
