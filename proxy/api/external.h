// SPDX-License-Identifier: Apache-2.0
// Memory and semaphores of other APIs (Vulkan, dma-bufs). Memory is imported by file descriptor where devices reach
// shared mappings of this process. A semaphore belongs to a driver of this machine: it is refused, with one line that
// says why, so there is none to signal or to wait for.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(books) ASKS(always) hipError_t hipImportExternalMemory(OUT(opaque) hipExternalMemory_t* memory,
                                                              IN() const hipExternalMemoryHandleDesc* description);
LOCAL(books) hipError_t hipExternalMemoryGetMappedBuffer(OUT(device) void** pointer,
                                                         IN(opaque) hipExternalMemory_t memory,
                                                         IN() const hipExternalMemoryBufferDesc* description);
REFUSED(only the driver of the other API knows where the elements of its images are)
hipError_t hipExternalMemoryGetMappedMipmappedArray(OUT(opaque) hipMipmappedArray_t* mipmapped,
                                                    IN(opaque) hipExternalMemory_t memory,
                                                    IN(opaque) const hipExternalMemoryMipmappedArrayDesc* description);
CUSTOM(books) ASKS(pending) hipError_t hipDestroyExternalMemory(IN(opaque) hipExternalMemory_t memory);
LOCAL(constant) hipError_t hipImportExternalSemaphore(OUT(opaque) hipExternalSemaphore_t* semaphore,
                                                      IN() const hipExternalSemaphoreHandleDesc* description);
LOCAL(constant)
hipError_t hipSignalExternalSemaphoresAsync(IN() ARRAY(count) const hipExternalSemaphore_t* semaphores,
                                            IN() ARRAY(count) const hipExternalSemaphoreSignalParams* params,
                                            unsigned int count, IN(stream) hipStream_t stream);
LOCAL(constant)
hipError_t hipWaitExternalSemaphoresAsync(IN() ARRAY(count) const hipExternalSemaphore_t* semaphores,
                                          IN() ARRAY(count) const hipExternalSemaphoreWaitParams* params,
                                          unsigned int count, IN(stream) hipStream_t stream);
LOCAL(constant) hipError_t hipDestroyExternalSemaphore(IN(opaque) hipExternalSemaphore_t semaphore);

}  // extern "C"
