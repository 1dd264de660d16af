// SPDX-License-Identifier: Apache-2.0
// The linear copies of the API.
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

// HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: a synchronous copy between such memory waits, as others do not.
bool must_wait(Client& client, const CopyMode& mode, const void* target, const void* source) {
  const hipcore::MemoryAdvice& advice = client.advice();
  return mode.wait && advice.is_synchronous(to_raw(target)) && advice.is_synchronous(to_raw(source));
}

hipError_t linear(ApiCall& call, void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                  hipStream_t stream, bool wait) {
  if (!call.connected()) return call.finish();
  CopyMode mode;
  if (!copy_mode(call, stream, wait, mode)) return call.finish();
  Client& client = call.client();
  const hipError_t error = copy(client.copies(), mode, target, source, bytes, kind);
  if (error == hipSuccess && must_wait(client, mode, target, source)) [[unlikely]]
    return call.finish(client.connection().synchronize_stream(call.device(), mode.stream));
  return call.finish(error);
}

hipError_t peer(ApiCall& call, void* target, int target_device, const void* source, int source_device,
                std::size_t bytes, hipStream_t stream, bool wait) {
  if (!call.connected()) return call.finish();
  int count = call.client().device_count();
  if (target_device < 0 || target_device >= count || source_device < 0 || source_device >= count)
    return call.finish(hipErrorInvalidDevice);
  return linear(call, target, source, bytes, hipMemcpyDeviceToDevice, stream, wait);
}

}  // namespace

hipError_t hipMemcpy(ApiCall& call, void* target, const void* source, size_t bytes, hipMemcpyKind kind) {
  return linear(call, target, source, bytes, kind, nullptr, true);
}

hipError_t hipMemcpyAsync(ApiCall& call, void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return linear(call, target, source, bytes, kind, stream, false);
}

hipError_t hipMemcpyWithStream(ApiCall& call, void* target, const void* source, size_t bytes,
                               hipMemcpyKind kind, hipStream_t stream) {
  return linear(call, target, source, bytes, kind, stream, true);
}

hipError_t hipMemcpyHtoD(ApiCall& call, hipDeviceptr_t target, void* source, size_t bytes) {
  return linear(call, target, source, bytes, hipMemcpyHostToDevice, nullptr, true);
}

hipError_t hipMemcpyDtoH(ApiCall& call, void* target, hipDeviceptr_t source, size_t bytes) {
  return linear(call, target, source, bytes, hipMemcpyDeviceToHost, nullptr, true);
}

hipError_t hipMemcpyDtoD(ApiCall& call, hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes) {
  return linear(call, target, source, bytes, hipMemcpyDeviceToDevice, nullptr, true);
}

hipError_t hipMemcpyHtoDAsync(ApiCall& call, hipDeviceptr_t target, void* source, size_t bytes,
                              hipStream_t stream) {
  return linear(call, target, source, bytes, hipMemcpyHostToDevice, stream, false);
}

hipError_t hipMemcpyDtoHAsync(ApiCall& call, void* target, hipDeviceptr_t source, size_t bytes,
                              hipStream_t stream) {
  return linear(call, target, source, bytes, hipMemcpyDeviceToHost, stream, false);
}

hipError_t hipMemcpyDtoDAsync(ApiCall& call, hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes,
                              hipStream_t stream) {
  return linear(call, target, source, bytes, hipMemcpyDeviceToDevice, stream, false);
}

hipError_t hipMemcpyPeer(ApiCall& call, void* target, int target_device, const void* source,
                         int source_device, size_t bytes) {
  return peer(call, target, target_device, source, source_device, bytes, nullptr, true);
}

hipError_t hipMemcpyPeerAsync(ApiCall& call, void* target, int target_device, const void* source,
                              int source_device, size_t bytes, hipStream_t stream) {
  return peer(call, target, target_device, source, source_device, bytes, stream, false);
}

}  // namespace tf::proxy::custom
