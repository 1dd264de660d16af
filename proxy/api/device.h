// SPDX-License-Identifier: Apache-2.0
// Devices: nearly everything is answered from the snapshot in HELLO.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

ANSWERS(hipSuccess) CHECK(flags == 0) hipError_t hipInit(unsigned int flags);
LOCAL(convert) hipError_t hipDriverGetVersion(OUT() int* version);
LOCAL(constant) hipError_t hipRuntimeGetVersion(OUT() int* version);
ANSWERS(device = ordinal) hipError_t hipDeviceGet(OUT() hipDevice_t* device, ORDINAL int ordinal);
ANSWERS(major = properties.major, minor = properties.minor)
hipError_t hipDeviceComputeCapability(OUT() int* major, OUT() int* minor, ORDINAL hipDevice_t device);
LOCAL(convert) hipError_t hipDeviceGetName(OUT() ARRAY(length) char* name, int length, hipDevice_t device);
LOCAL(convert) hipError_t hipDeviceGetUuid(OUT() hipUUID* uuid, hipDevice_t device);
LOCAL(convert) hipError_t hipDeviceGetP2PAttribute(OUT() int* value, hipDeviceP2PAttr attribute, int source_device,
                                                   int target_device);
LOCAL(convert) hipError_t hipDeviceGetPCIBusId(OUT() ARRAY(length) char* bus_id, int length, int device);
LOCAL(convert) hipError_t hipDeviceGetByPCIBusId(OUT() int* device, IN() STRING(64) const char* bus_id);
ANSWERS(bytes = properties.total_global_mem)
hipError_t hipDeviceTotalMem(OUT() size_t* bytes, ORDINAL hipDevice_t device);
LOCAL(thread) hipError_t hipSetDevice(int device);
LOCAL(thread) hipError_t hipSetValidDevices(IN() ARRAY(count) int* devices, int count);
ANSWERS(device = current) hipError_t hipGetDevice(OUT() int* device);
LOCAL(convert) hipError_t hipGetDeviceCount(OUT() int* count);
LOCAL(convert) hipError_t hipDeviceGetAttribute(OUT() int* value, hipDeviceAttribute_t attribute, int device);
LOCAL(convert) hipError_t hipGetDeviceProperties(OUT() hipDeviceProp_t* properties, int device);
ALIAS(hipGetDeviceProperties)
hipError_t hipGetDevicePropertiesR0000(OUT() hipDeviceProp_t* properties, int device);
LOCAL(convert) hipError_t hipGetDevicePropertiesR0600(OUT() hipDeviceProp_tR0600* properties, int device);
LOCAL(convert) hipError_t hipDeviceGetLimit(OUT() size_t* value, enum hipLimit_t limit);
CUSTOM(convert) ASKS(always) hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value);
ANSWERS(flags = client.device_flags(current)) hipError_t hipGetDeviceFlags(OUT() unsigned int* flags);
LOCAL(convert) hipError_t hipSetDeviceFlags(unsigned int flags);
LOCAL(convert) hipError_t hipChooseDevice(OUT() int* device, IN() const hipDeviceProp_t* properties);
ALIAS(hipChooseDevice)
hipError_t hipChooseDeviceR0000(OUT() int* device, IN() const hipDeviceProp_t* properties);
LOCAL(convert) hipError_t hipChooseDeviceR0600(OUT() int* device, IN() const hipDeviceProp_tR0600* properties);

// --- functions by name ----------------------------------------------------------------------------------

LOCAL(constant) hipError_t hipGetProcAddress(IN() STRING(256) const char* symbol, OUT(opaque) void** function,
                                             int version, uint64_t flags,
                                             OUT() OPTIONAL hipDriverProcAddressQueryResult* status);
LOCAL(constant) hipError_t hipGetDriverEntryPoint(IN() STRING(256) const char* symbol, OUT(opaque) void** function,
                                                  unsigned long long flags,
                                                  OUT() OPTIONAL hipDriverEntryPointQueryResult* status);
LOCAL(constant) hipError_t hipGetProcAddress_spt(IN() STRING(256) const char* symbol, OUT(opaque) void** function,
                                                 int version, uint64_t flags,
                                                 OUT() OPTIONAL hipDriverProcAddressQueryResult* status);
LOCAL(constant) hipError_t hipGetDriverEntryPoint_spt(IN() STRING(256) const char* symbol,
                                                      OUT(opaque) void** function, unsigned long long flags,
                                                      OUT() OPTIONAL hipDriverEntryPointQueryResult* status);

ANSWERS(least = snapshot.stream_priority_least, greatest = snapshot.stream_priority_greatest)
hipError_t hipDeviceGetStreamPriorityRange(OUT() OPTIONAL int* least, OUT() OPTIONAL int* greatest);

CUSTOM(wait) ASKS(pending) hipError_t hipDeviceSynchronize();
CUSTOM(wait) ASKS(pending) hipError_t hipDeviceReset();

POST(0x0110) NO_WORK CHECK(static_cast<unsigned>(config) <= hipFuncCachePreferEqual)
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config);
CALL(0x0111) hipError_t hipDeviceGetCacheConfig(OUT() hipFuncCache_t* config);
POST(0x0112) NO_WORK CHECK(static_cast<unsigned>(config) <= hipSharedMemBankSizeEightByte)
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);
CALL(0x0113) hipError_t hipDeviceGetSharedMemConfig(OUT() hipSharedMemConfig* config);
CACHED(0x0114) CHECK(device1 >= 0 && device2 >= 0)
hipError_t hipExtGetLinkTypeAndHopCount(ORDINAL int device1, ORDINAL int device2, OUT() uint32_t* link_type,
                                        OUT() uint32_t* hop_count);

}  // extern "C"
