// SPDX-License-Identifier: Apache-2.0
// Errors: strings, names and the calling thread's last one.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

LOCAL(constant) const char* hipGetErrorName(hipError_t error);
LOCAL(constant) const char* hipGetErrorString(hipError_t error);
LOCAL(constant) hipError_t hipDrvGetErrorName(hipError_t error, OUT(opaque) const char** name);
LOCAL(constant) hipError_t hipDrvGetErrorString(hipError_t error, OUT(opaque) const char** text);
LOCAL(thread) hipError_t hipGetLastError();
LOCAL(thread) hipError_t hipPeekAtLastError();
LOCAL(thread) hipError_t hipExtGetLastError();

}  // extern "C"
