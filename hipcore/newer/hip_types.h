// SPDX-License-Identifier: Apache-2.0
// Types and constants of HIP that are newer than the vendor's headers this tree is compiled with (HIP 5.2).
// They have HIP's own names, so that the API description (proxy/api) reads as HIP's. Include this instead of
// <hip/hip_runtime_api.h> where they are used. Under newer headers this file declares nothing: the
// target newer_types_vendor compiles the checks in layout_checks.h against those, where a build is told of them
// (-DTF_HIP_NEWER_INCLUDE=FOLDER).
//
// The layouts are those of HIP 6.4 and 7.2, and of 7.14 for execution.h.
#pragma once

#include <hip/hip_runtime_api.h>

#if HIP_VERSION_MAJOR < 6
#include "hipcore/newer/attributes.h"
#include "hipcore/newer/copies.h"
#include "hipcore/newer/execution.h"
#include "hipcore/newer/graph_nodes.h"
#include "hipcore/newer/launch.h"
#include "hipcore/newer/properties.h"
#endif
