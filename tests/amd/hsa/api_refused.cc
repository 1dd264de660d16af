// SPDX-License-Identifier: Apache-2.0
// What libamdhip64 5.2.3, 5.7.1, 6.4.3 and 7.2.4 import and the stand-in does not do. The list is here and
// nowhere else: memory of graphics APIs (interop), shared virtual memory (HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED
// is false, so AMD's runtime does not ask), the log of ROCr.
#include <hsa/hsa_ext_image.h>

#include "tests/amd/hsa/api.h"
#include "tests/amd/hsa/newer.h"

// hsa_status_t has no value for what an implementation lacks: HSA_STATUS_ERROR, and the name is said once.
#define REFUSED(name, ...) \
  hsa_status_t name(__VA_ARGS__) { return tf::amd::hsa::refuse(#name, "every call", HSA_STATUS_ERROR); }

REFUSED(hsa_amd_image_create, hsa_agent_t, const hsa_ext_image_descriptor_t*,
        const hsa_amd_image_descriptor_t*, const void*, hsa_access_permission_t, hsa_ext_image_t*)
REFUSED(hsa_amd_interop_map_buffer, uint32_t, hsa_agent_t*, int, uint32_t, size_t*, void**, size_t*,
        const void**)
REFUSED(hsa_amd_interop_unmap_buffer, void*)
REFUSED(hsa_amd_svm_attributes_set, void*, size_t, hsa_amd_svm_attribute_pair_t*, size_t)
REFUSED(hsa_amd_svm_attributes_get, void*, size_t, hsa_amd_svm_attribute_pair_t*, size_t)
REFUSED(hsa_amd_svm_prefetch_async, void*, size_t, hsa_agent_t, uint32_t, const hsa_signal_t*, hsa_signal_t)
REFUSED(hsa_amd_enable_logging, uint8_t*, void*)
// Of 7.2.4: files that a GPU reads and writes by itself.
REFUSED(hsa_amd_ais_file_read, uint64_t, void*, uint64_t, int64_t, uint64_t*, int32_t*)
REFUSED(hsa_amd_ais_file_write, uint64_t, void*, uint64_t, int64_t, uint64_t*, int32_t*)
