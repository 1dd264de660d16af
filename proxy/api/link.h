// SPDX-License-Identifier: Apache-2.0
// Linking of HIP 6.4: hiprtc's under other names, with HIP's errors.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

LOCAL(code) hipError_t hipLinkCreate(unsigned int count, IN(opaque) OPTIONAL hipJitOption* options,
                                     IN(opaque) OPTIONAL void** values, OUT(opaque) hipLinkState_t* state);
LOCAL(code) hipError_t hipLinkAddData(IN(opaque) hipLinkState_t state, hipJitInputType type, IN(opaque) void* image,
                                      size_t bytes, IN() OPTIONAL STRING(4096) const char* name, unsigned int count,
                                      IN(opaque) OPTIONAL hipJitOption* options, IN(opaque) OPTIONAL void** values);
LOCAL(code) hipError_t hipLinkAddFile(IN(opaque) hipLinkState_t state, hipJitInputType type,
                                      IN() STRING(4096) const char* path, unsigned int count,
                                      IN(opaque) OPTIONAL hipJitOption* options, IN(opaque) OPTIONAL void** values);
LOCAL(code) hipError_t hipLinkComplete(IN(opaque) hipLinkState_t state, OUT(opaque) void** image, OUT() size_t* bytes);
LOCAL(code) hipError_t hipLinkDestroy(IN(opaque) hipLinkState_t state);

}  // extern "C"
