// SPDX-License-Identifier: Apache-2.0
// The _spt forms: stream 0 means the calling thread's own stream. Compiled into each of our runtimes, whose
// other functions it calls.
#include "worker/runtime/common/api.h"

extern "C" hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data);

namespace {

hipStream_t own(hipStream_t stream) { return stream ? stream : hipStreamPerThread; }

// Turns a queued call into one that waits.
hipError_t finish(hipError_t queued) {
  return queued == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : queued;
}

}  // namespace

extern "C" {

TF_EXPORT hipError_t hipMemcpy_spt(void* target, const void* source, size_t bytes, hipMemcpyKind kind) {
  return hipMemcpyWithStream(target, source, bytes, kind, hipStreamPerThread);
}

TF_EXPORT hipError_t hipMemcpyAsync_spt(void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                                        hipStream_t stream) {
  return hipMemcpyAsync(target, source, bytes, kind, own(stream));
}

TF_EXPORT hipError_t hipMemcpy2D_spt(void* target, size_t target_pitch, const void* source,
                                     size_t source_pitch, size_t width, size_t height, hipMemcpyKind kind) {
  return finish(
      hipMemcpy2DAsync(target, target_pitch, source, source_pitch, width, height, kind, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemcpy2DAsync_spt(void* target, size_t target_pitch, const void* source,
                                          size_t source_pitch, size_t width, size_t height,
                                          hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DAsync(target, target_pitch, source, source_pitch, width, height, kind, own(stream));
}

TF_EXPORT hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* parameters) {
  return finish(hipMemcpy3DAsync(parameters, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return hipMemcpy3DAsync(parameters, own(stream));
}

TF_EXPORT hipError_t hipMemcpy2DToArray_spt(hipArray* target, size_t x, size_t y, const void* source,
                                            size_t pitch, size_t width, size_t height, hipMemcpyKind kind) {
  return finish(
      hipMemcpy2DToArrayAsync(target, x, y, source, pitch, width, height, kind, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemcpy2DToArrayAsync_spt(hipArray* target, size_t x, size_t y, const void* source,
                                                 size_t pitch, size_t width, size_t height,
                                                 hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DToArrayAsync(target, x, y, source, pitch, width, height, kind, own(stream));
}

TF_EXPORT hipError_t hipMemcpy2DFromArray_spt(void* target, size_t pitch, hipArray_const_t source, size_t x,
                                              size_t y, size_t width, size_t height, hipMemcpyKind kind) {
  return finish(
      hipMemcpy2DFromArrayAsync(target, pitch, source, x, y, width, height, kind, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemcpy2DFromArrayAsync_spt(void* target, size_t pitch, hipArray_const_t source,
                                                   size_t x, size_t y, size_t width, size_t height,
                                                   hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DFromArrayAsync(target, pitch, source, x, y, width, height, kind, own(stream));
}

TF_EXPORT hipError_t hipMemset_spt(void* target, int value, size_t bytes) {
  return finish(hipMemsetAsync(target, value, bytes, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemsetAsync_spt(void* target, int value, size_t bytes, hipStream_t stream) {
  return hipMemsetAsync(target, value, bytes, own(stream));
}

TF_EXPORT hipError_t hipMemset2D_spt(void* target, size_t pitch, int value, size_t width, size_t height) {
  return finish(hipMemset2DAsync(target, pitch, value, width, height, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemset2DAsync_spt(void* target, size_t pitch, int value, size_t width, size_t height,
                                          hipStream_t stream) {
  return hipMemset2DAsync(target, pitch, value, width, height, own(stream));
}

TF_EXPORT hipError_t hipMemset3D_spt(hipPitchedPtr target, int value, hipExtent extent) {
  return finish(hipMemset3DAsync(target, value, extent, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemset3DAsync_spt(hipPitchedPtr target, int value, hipExtent extent,
                                          hipStream_t stream) {
  return hipMemset3DAsync(target, value, extent, own(stream));
}

TF_EXPORT hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* source, size_t bytes,
                                           size_t offset, hipMemcpyKind kind) {
  return finish(hipMemcpyToSymbolAsync(symbol, source, bytes, offset, kind, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* source, size_t bytes,
                                                size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyToSymbolAsync(symbol, source, bytes, offset, kind, own(stream));
}

TF_EXPORT hipError_t hipMemcpyFromSymbol_spt(void* target, const void* symbol, size_t bytes, size_t offset,
                                             hipMemcpyKind kind) {
  return finish(hipMemcpyFromSymbolAsync(target, symbol, bytes, offset, kind, hipStreamPerThread));
}

TF_EXPORT hipError_t hipMemcpyFromSymbolAsync_spt(void* target, const void* symbol, size_t bytes,
                                                  size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyFromSymbolAsync(target, symbol, bytes, offset, kind, own(stream));
}

TF_EXPORT hipError_t hipLaunchKernel_spt(const void* function, dim3 blocks, dim3 threads, void** arguments,
                                         size_t shared_bytes, hipStream_t stream) {
  return hipLaunchKernel(function, blocks, threads, arguments, shared_bytes, own(stream));
}

TF_EXPORT hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 blocks, dim3 threads,
                                                    void** arguments, unsigned shared_bytes,
                                                    hipStream_t stream) {
  return hipLaunchCooperativeKernel(function, blocks, threads, arguments, shared_bytes, own(stream));
}

TF_EXPORT hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return hipEventRecord(event, own(stream));
}

TF_EXPORT hipError_t hipStreamQuery_spt(hipStream_t stream) { return hipStreamQuery(own(stream)); }

TF_EXPORT hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return hipStreamSynchronize(own(stream));
}

TF_EXPORT hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned* flags) {
  return hipStreamGetFlags(own(stream), flags);
}

TF_EXPORT hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return hipStreamGetPriority(own(stream), priority);
}

TF_EXPORT hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return hipStreamWaitEvent(own(stream), event, flags);
}

TF_EXPORT hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback, void* data,
                                              unsigned flags) {
  return hipStreamAddCallback(own(stream), callback, data, flags);
}

TF_EXPORT hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void* data) {
  return hipLaunchHostFunc(own(stream), function, data);
}

TF_EXPORT hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t handle) {
  return hipGraphLaunch(exec, own(handle));
}

TF_EXPORT hipError_t hipStreamBeginCapture_spt(hipStream_t handle, hipStreamCaptureMode mode) {
  return hipStreamBeginCapture(own(handle), mode);
}

TF_EXPORT hipError_t hipStreamEndCapture_spt(hipStream_t handle, hipGraph_t* graph) {
  return hipStreamEndCapture(own(handle), graph);
}

TF_EXPORT hipError_t hipStreamIsCapturing_spt(hipStream_t handle, hipStreamCaptureStatus* status) {
  return hipStreamIsCapturing(own(handle), status);
}

TF_EXPORT hipError_t hipStreamGetCaptureInfo_spt(hipStream_t handle, hipStreamCaptureStatus* status,
                                                 unsigned long long* id) {
  return hipStreamGetCaptureInfo(own(handle), status, id);
}

TF_EXPORT hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t handle, hipStreamCaptureStatus* status,
                                                    unsigned long long* id, hipGraph_t* graph,
                                                    const hipGraphNode_t** dependencies, size_t* count) {
  return hipStreamGetCaptureInfo_v2(own(handle), status, id, graph, dependencies, count);
}

}  // extern "C"
