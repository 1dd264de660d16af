// SPDX-License-Identifier: Apache-2.0
// Interop with OpenGL: an OpenGL context belongs to a process and to the device that it draws on.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGLGetDevices(OUT() unsigned int* count, OUT() int* devices, unsigned int room, hipGLDeviceList list);
REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGraphicsGLRegisterBuffer(OUT(opaque) hipGraphicsResource** resource, GLuint buffer, unsigned int flags);
REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGraphicsGLRegisterImage(OUT(opaque) hipGraphicsResource** resource, GLuint image, GLenum target,
                                      unsigned int flags);
REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGraphicsMapResources(int count, IN(opaque) hipGraphicsResource_t* resources,
                                   IN(stream) hipStream_t stream);
REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGraphicsResourceGetMappedPointer(OUT(device) void** pointer, OUT() size_t* bytes,
                                               IN(opaque) hipGraphicsResource_t resource);
REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGraphicsSubResourceGetMappedArray(OUT(opaque) hipArray_t* array,
                                                IN(opaque) hipGraphicsResource_t resource, unsigned int array_index,
                                                unsigned int level);
REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGraphicsUnmapResources(int count, IN(opaque) hipGraphicsResource_t* resources,
                                     IN(stream) hipStream_t stream);
REFUSED(an OpenGL context of this process is on no device of the worker)
hipError_t hipGraphicsUnregisterResource(IN(opaque) hipGraphicsResource_t resource);

}  // extern "C"
