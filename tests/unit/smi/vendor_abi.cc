// SPDX-License-Identifier: Apache-2.0
// The same layouts in the vendor's own header.
#include <rocm_smi/rocm_smi.h>

#include <cstddef>

#define TF_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type);
#define TF_OFFSET(type, field, bytes) static_assert(offsetof(type, field) == (bytes), #type "::" #field);
#include "smi/rocm/layouts.inc"
#if RSMI_MAX_NUM_FREQUENCIES == 32
TF_SIZE(rsmi_frequencies_t, 264)
TF_SIZE(rsmi_pcie_bandwidth_t, 392)
#else
TF_SIZE(rsmi_frequencies_t, 280)
TF_SIZE(rsmi_pcie_bandwidth_t, 416)
#endif
