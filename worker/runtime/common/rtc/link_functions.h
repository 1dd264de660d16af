/* SPDX-License-Identifier: Apache-2.0 */
/* hiprtc's functions of HIP 5.3 that its header of 5.2 does not declare; enums as ints. */
#pragma once

#include <hip/hiprtc.h>
#include <stddef.h>

extern "C" {

hiprtcResult hiprtcGetBitcode(hiprtcProgram program, char* bitcode);
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram program, size_t* bytes);
hiprtcResult hiprtcLinkCreate(unsigned count, int* options, void** values, void** state);
hiprtcResult hiprtcLinkAddData(void* state, int type, void* image, size_t bytes, const char* name,
                               unsigned count, int* options, void** values);
hiprtcResult hiprtcLinkAddFile(void* state, int type, const char* path, unsigned count, int* options,
                               void** values);
int hiprtcLinkComplete(void* state, void** image, size_t* bytes);
hiprtcResult hiprtcLinkDestroy(void* state);

}  // extern "C"
