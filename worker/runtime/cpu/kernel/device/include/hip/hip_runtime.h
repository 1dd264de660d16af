// SPDX-License-Identifier: Apache-2.0
// The vendor's runtime header, and what HIP 6 and 7 add to it where it is older.
#pragma once

#include <hip/hip_version.h>

// The vendor's wave functions with masks, of HIP 6.2 to 6.4 where this macro asks for them, exchange within loops that
// lanes leave in different turns (docs/waves.md). They are left out, and ours take their place.
#if HIP_VERSION_MAJOR == 6 && HIP_VERSION_MINOR >= 2 && !defined(HIP_ENABLE_WARP_SYNC_BUILTINS)
#define HIPR_NO_WAVE_SYNC
#endif
#if HIP_VERSION_MAJOR == 6
#pragma push_macro("HIP_ENABLE_WARP_SYNC_BUILTINS")
#undef HIP_ENABLE_WARP_SYNC_BUILTINS
#endif
#include_next <hip/hip_runtime.h>
#if HIP_VERSION_MAJOR == 6
#pragma pop_macro("HIP_ENABLE_WARP_SYNC_BUILTINS")
#endif

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
#include <hip/hipr_internal.h>
#endif

#if defined(__HIP__) && HIP_VERSION_MAJOR < 7 && !defined(HIPR_NO_WAVE_SYNC)
#include <hip/hipr_wave_sync.h>
#endif
