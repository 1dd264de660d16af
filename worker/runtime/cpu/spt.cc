// SPDX-License-Identifier: Apache-2.0
// The _spt forms: stream 0 means the calling thread's own stream.
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/copy.h"
#include "worker/runtime/cpu/memset.h"

namespace tf::cpu {
namespace {

hipStream_t own(hipStream_t stream) { return stream ? stream : hipStreamPerThread; }

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

TF_CPU_EXPORT hipError_t hipMemcpy_spt(void* target, const void* source, size_t bytes, hipMemcpyKind kind) {
  return api([&] { return copy_linear(target, source, bytes, kind, hipStreamPerThread, Wait::kYes); });
}

TF_CPU_EXPORT hipError_t hipMemcpyAsync_spt(void* target, const void* source, size_t bytes,
                                            hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyAsync(target, source, bytes, kind, own(stream));
}

TF_CPU_EXPORT hipError_t hipMemcpy2D_spt(void* target, size_t target_pitch, const void* source,
                                         size_t source_pitch, size_t width, size_t height,
                                         hipMemcpyKind kind) {
  return api([&] {
    return copy_rows(target, target_pitch, source, source_pitch, width, height, kind, hipStreamPerThread,
                     Wait::kYes);
  });
}

TF_CPU_EXPORT hipError_t hipMemcpy2DAsync_spt(void* target, size_t target_pitch, const void* source,
                                              size_t source_pitch, size_t width, size_t height,
                                              hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DAsync(target, target_pitch, source, source_pitch, width, height, kind, own(stream));
}

TF_CPU_EXPORT hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* parameters) {
  return api([&] { return copy_3d(parameters, hipStreamPerThread, Wait::kYes); });
}

TF_CPU_EXPORT hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return hipMemcpy3DAsync(parameters, own(stream));
}

TF_CPU_EXPORT hipError_t hipMemset_spt(void* target, int value, size_t bytes) {
  return api([&] {
    return fill_linear(target, static_cast<std::uint32_t>(value), 1, bytes, hipStreamPerThread, Wait::kYes);
  });
}

TF_CPU_EXPORT hipError_t hipMemsetAsync_spt(void* target, int value, size_t bytes, hipStream_t stream) {
  return hipMemsetAsync(target, value, bytes, own(stream));
}

TF_CPU_EXPORT hipError_t hipMemset2D_spt(void* target, size_t pitch, int value, size_t width, size_t height) {
  return api([&] { return fill_rows(target, pitch, value, width, height, hipStreamPerThread, Wait::kYes); });
}

TF_CPU_EXPORT hipError_t hipMemset2DAsync_spt(void* target, size_t pitch, int value, size_t width,
                                              size_t height, hipStream_t stream) {
  return hipMemset2DAsync(target, pitch, value, width, height, own(stream));
}

TF_CPU_EXPORT hipError_t hipMemset3D_spt(hipPitchedPtr target, int value, hipExtent extent) {
  return api([&] { return fill_3d(target, value, extent, hipStreamPerThread, Wait::kYes); });
}

TF_CPU_EXPORT hipError_t hipMemset3DAsync_spt(hipPitchedPtr target, int value, hipExtent extent,
                                              hipStream_t stream) {
  return hipMemset3DAsync(target, value, extent, own(stream));
}

TF_CPU_EXPORT hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* source, size_t bytes,
                                               size_t offset, hipMemcpyKind kind) {
  const hipError_t status = hipMemcpyToSymbolAsync(symbol, source, bytes, offset, kind, hipStreamPerThread);
  return status == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : status;
}

TF_CPU_EXPORT hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* source, size_t bytes,
                                                    size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyToSymbolAsync(symbol, source, bytes, offset, kind, own(stream));
}

TF_CPU_EXPORT hipError_t hipMemcpyFromSymbol_spt(void* target, const void* symbol, size_t bytes,
                                                 size_t offset, hipMemcpyKind kind) {
  const hipError_t status = hipMemcpyFromSymbolAsync(target, symbol, bytes, offset, kind, hipStreamPerThread);
  return status == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : status;
}

TF_CPU_EXPORT hipError_t hipMemcpyFromSymbolAsync_spt(void* target, const void* symbol, size_t bytes,
                                                      size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyFromSymbolAsync(target, symbol, bytes, offset, kind, own(stream));
}

TF_CPU_EXPORT hipError_t hipLaunchKernel_spt(const void* function, dim3 blocks, dim3 threads,
                                             void** arguments, size_t shared_bytes, hipStream_t stream) {
  return hipLaunchKernel(function, blocks, threads, arguments, shared_bytes, own(stream));
}

TF_CPU_EXPORT hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 blocks, dim3 threads,
                                                        void** arguments, unsigned shared_bytes,
                                                        hipStream_t stream) {
  return hipLaunchCooperativeKernel(function, blocks, threads, arguments, shared_bytes, own(stream));
}

TF_CPU_EXPORT hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return hipEventRecord(event, own(stream));
}

TF_CPU_EXPORT hipError_t hipStreamQuery_spt(hipStream_t stream) { return hipStreamQuery(own(stream)); }

TF_CPU_EXPORT hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return hipStreamSynchronize(own(stream));
}

TF_CPU_EXPORT hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned* flags) {
  return hipStreamGetFlags(own(stream), flags);
}

TF_CPU_EXPORT hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return hipStreamGetPriority(own(stream), priority);
}

TF_CPU_EXPORT hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return hipStreamWaitEvent(own(stream), event, flags);
}

TF_CPU_EXPORT hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback,
                                                  void* data, unsigned flags) {
  return hipStreamAddCallback(own(stream), callback, data, flags);
}

TF_CPU_EXPORT hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data);
TF_CPU_EXPORT hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void* data) {
  return hipLaunchHostFunc(own(stream), function, data);
}

}  // extern "C"
