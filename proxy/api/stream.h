// SPDX-License-Identifier: Apache-2.0
// Streams.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CREATE(0x0310) hipError_t hipStreamCreate(OUT(stream) hipStream_t* stream);
CREATE(0x0311) NEW_STREAM(flags) CHECK(flags == hipStreamDefault || flags == hipStreamNonBlocking)
hipError_t hipStreamCreateWithFlags(OUT(stream) hipStream_t* stream, unsigned int flags);
CREATE(0x0312) NEW_STREAM(flags) CHECK(flags == hipStreamDefault || flags == hipStreamNonBlocking)
hipError_t hipStreamCreateWithPriority(OUT(stream) hipStream_t* stream, unsigned int flags, int priority);
CREATE(0x0313) CHECK(mask_words != 0)
hipError_t hipExtStreamCreateWithCUMask(OUT(stream) hipStream_t* stream, uint32_t mask_words,
                                        IN() ARRAY(mask_words) const uint32_t* mask);
CUSTOM(convert) ASKS(always) hipError_t hipExtStreamGetCUMask(IN(stream) hipStream_t stream, uint32_t mask_words,
                                                              OUT() ARRAY(mask_words) uint32_t* mask);
SENDS(DestroyStream) hipError_t hipStreamDestroy(CONSUMES(stream) hipStream_t stream);
POST(0x0315) WORK(stream) AWAITS(event) CHECK(flags == 0)
hipError_t hipStreamWaitEvent(IN(stream) hipStream_t stream, IN(event) hipEvent_t event, unsigned int flags);
CACHED(0x0316) CHECK(stream != nullptr)
hipError_t hipStreamGetFlags(IN(stream) hipStream_t stream, OUT() unsigned int* flags);
CACHED(0x0317) hipError_t hipStreamGetPriority(IN(stream) hipStream_t stream, OUT() int* priority);
POST(0x0318) WORK(stream) CAPTURE(refused) REACHES_HOST
CHECK(reinterpret_cast<std::uintptr_t>(pointer) % 4 == 0) CHECK(flags <= hipStreamWaitValueNor)
hipError_t hipStreamWaitValue32(IN(stream) hipStream_t stream, IN(device, 4) void* pointer, uint32_t value,
                                unsigned int flags, uint32_t mask);
POST(0x0319) WORK(stream) CAPTURE(refused) REACHES_HOST
CHECK(reinterpret_cast<std::uintptr_t>(pointer) % 8 == 0) CHECK(flags <= hipStreamWaitValueNor)
hipError_t hipStreamWaitValue64(IN(stream) hipStream_t stream, IN(device, 8) void* pointer, uint64_t value,
                                unsigned int flags, uint64_t mask);
POST(0x031a) WORK(stream) CAPTURE(refused) REACHES_HOST
CHECK(reinterpret_cast<std::uintptr_t>(pointer) % 4 == 0)
hipError_t hipStreamWriteValue32(IN(stream) hipStream_t stream, IN(device, 4) void* pointer, uint32_t value,
                                 unsigned int flags);
POST(0x031b) WORK(stream) CAPTURE(refused) REACHES_HOST
CHECK(reinterpret_cast<std::uintptr_t>(pointer) % 8 == 0)
hipError_t hipStreamWriteValue64(IN(stream) hipStream_t stream, IN(device, 8) void* pointer, uint64_t value,
                                 unsigned int flags);

CUSTOM(books) hipError_t hipStreamGetId(IN(stream) hipStream_t stream, OUT() unsigned long long* id);
CUSTOM(wait) ASKS(pending) hipError_t hipStreamQuery(IN(stream) hipStream_t stream);
CUSTOM(wait) ASKS(pending) hipError_t hipStreamSynchronize(IN(stream) hipStream_t stream);
CUSTOM(wait) hipError_t hipStreamAddCallback(IN(stream) hipStream_t stream, IN(callback) hipStreamCallback_t callback,
                                             IN(opaque) OPTIONAL void* user_data, unsigned int flags);
CUSTOM(wait) hipError_t hipLaunchHostFunc(IN(stream) hipStream_t stream, IN(callback) hipHostFn_t function,
                                          IN(opaque) OPTIONAL void* user_data);
LOCAL(books) int hipGetStreamDeviceId(IN(stream) hipStream_t stream);
// Which stream uses managed memory: AMD's runtime checks it, and makes nothing of it.
LOCAL(books) hipError_t hipStreamAttachMemAsync(IN(stream) hipStream_t stream, IN(address) void* pointer, size_t bytes,
                                                unsigned int flags);
LOCAL(books) hipError_t hipStreamGetDevice(IN(stream) hipStream_t stream, OUT() hipDevice_t* device);

ALIAS(hipStreamQuery) hipError_t hipStreamQuery_spt(IN(stream) hipStream_t stream);
ALIAS(hipStreamSynchronize) hipError_t hipStreamSynchronize_spt(IN(stream) hipStream_t stream);
ALIAS(hipStreamGetPriority)
hipError_t hipStreamGetPriority_spt(IN(stream) hipStream_t stream, OUT() int* priority);
ALIAS(hipStreamGetFlags) hipError_t hipStreamGetFlags_spt(IN(stream) hipStream_t stream, OUT() unsigned int* flags);
ALIAS(hipStreamWaitEvent) hipError_t hipStreamWaitEvent_spt(IN(stream) hipStream_t stream,
                                                            IN(event) hipEvent_t event, unsigned int flags);
ALIAS(hipStreamAddCallback)
hipError_t hipStreamAddCallback_spt(IN(stream) hipStream_t stream, IN(callback) hipStreamCallback_t callback,
                                    IN(opaque) OPTIONAL void* user_data, unsigned int flags);
ALIAS(hipLaunchHostFunc)
hipError_t hipLaunchHostFunc_spt(IN(stream) hipStream_t stream, IN(callback) hipHostFn_t function,
                                 IN(opaque) OPTIONAL void* user_data);

}  // extern "C"
