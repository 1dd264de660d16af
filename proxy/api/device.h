// SPDX-License-Identifier: Apache-2.0
// Devices: nearly all answered from the snapshot that came with HELLO.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

LOCAL hipError_t hipInit(unsigned int flags);
LOCAL hipError_t hipDriverGetVersion(OUT() int* version);
LOCAL hipError_t hipRuntimeGetVersion(OUT() int* version);
LOCAL hipError_t hipDeviceGet(OUT() hipDevice_t* device, int ordinal);
LOCAL hipError_t hipDeviceComputeCapability(OUT() int* major, OUT() int* minor, hipDevice_t device);
LOCAL hipError_t hipDeviceGetName(OUT() ARRAY(length) char* name, int length, hipDevice_t device);
LOCAL hipError_t hipDeviceGetUuid(OUT() hipUUID* uuid, hipDevice_t device);
LOCAL hipError_t hipDeviceGetP2PAttribute(OUT() int* value, hipDeviceP2PAttr attribute, int source_device,
                                          int target_device);
LOCAL hipError_t hipDeviceGetPCIBusId(OUT() ARRAY(length) char* bus_id, int length, int device);
LOCAL hipError_t hipDeviceGetByPCIBusId(OUT() int* device, IN() STRING(64) const char* bus_id);
LOCAL hipError_t hipDeviceTotalMem(OUT() size_t* bytes, hipDevice_t device);
LOCAL hipError_t hipSetDevice(int device);
LOCAL hipError_t hipGetDevice(OUT() int* device);
LOCAL hipError_t hipGetDeviceCount(OUT() int* count);
LOCAL hipError_t hipDeviceGetAttribute(OUT() int* value, hipDeviceAttribute_t attribute, int device);
LOCAL hipError_t hipGetDeviceProperties(OUT() hipDeviceProp_t* properties, int device);
LOCAL hipError_t hipDeviceGetLimit(OUT() size_t* value, enum hipLimit_t limit);
LOCAL hipError_t hipGetDeviceFlags(OUT() unsigned int* flags);
LOCAL hipError_t hipSetDeviceFlags(unsigned int flags);
LOCAL hipError_t hipChooseDevice(OUT() int* device, IN() const hipDeviceProp_t* properties);
LOCAL hipError_t hipDeviceGetStreamPriorityRange(OUT() OPTIONAL int* least, OUT() OPTIONAL int* greatest);

CUSTOM hipError_t hipDeviceSynchronize();
CUSTOM hipError_t hipDeviceReset();

POST(0x0110) NO_WORK hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config);
CALL(0x0111) hipError_t hipDeviceGetCacheConfig(OUT() hipFuncCache_t* config);
POST(0x0112) NO_WORK hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);
CALL(0x0113) hipError_t hipDeviceGetSharedMemConfig(OUT() hipSharedMemConfig* config);
CACHED(0x0114) hipError_t hipExtGetLinkTypeAndHopCount(ORDINAL int device1, ORDINAL int device2,
                                                       OUT() uint32_t* link_type, OUT() uint32_t* hop_count);

}  // extern "C"
