// SPDX-License-Identifier: Apache-2.0
// Sharing device memory and events between processes.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(books) ASKS(always) hipError_t hipIpcGetMemHandle(OUT() hipIpcMemHandle_t* handle, IN(device) void* pointer);
CUSTOM(books) ASKS(always)
hipError_t hipIpcOpenMemHandle(OUT(device) void** pointer, hipIpcMemHandle_t handle, unsigned int flags);
CUSTOM(books) ASKS(always) hipError_t hipIpcCloseMemHandle(IN(device) void* pointer);
CUSTOM(books) ASKS(always)
hipError_t hipIpcGetEventHandle(OUT() hipIpcEventHandle_t* handle, IN(event) hipEvent_t event);
CUSTOM(books) ASKS(always) hipError_t hipIpcOpenEventHandle(OUT(event) hipEvent_t* event, hipIpcEventHandle_t handle);

}  // extern "C"
