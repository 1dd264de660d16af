// SPDX-License-Identifier: Apache-2.0
// Access of one device to another's memory.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

LOCAL(convert) hipError_t hipDeviceCanAccessPeer(OUT() int* can_access, int device, int peer_device);
CALL(0x0120) hipError_t hipDeviceEnablePeerAccess(ORDINAL int peer_device, unsigned int flags);
CALL(0x0121) hipError_t hipDeviceDisablePeerAccess(ORDINAL int peer_device);
CUSTOM(copy) hipError_t hipMemcpyPeer(IN(device) void* target, int target_device, IN(device) const void* source,
                                      int source_device, size_t bytes);
CUSTOM(copy) hipError_t hipMemcpyPeerAsync(IN(device) void* target, int target_device, IN(device) const void* source,
                                           int source_device, size_t bytes, IN(stream) hipStream_t stream);

}  // extern "C"
