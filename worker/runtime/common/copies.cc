// SPDX-License-Identifier: Apache-2.0
// Linear copies. The direction given by the program is only checked for consistency.
#include "worker/runtime/common/copies.h"

#include "hipcore/memory/copy_kind.h"
#include "worker/runtime/common/capture.h"
#include "worker/runtime/common/device.h"

namespace tf::runtime {
namespace {

// If the stream is being captured, adds the copy to the capture.
graph::Library::Verdict capture_line(graph::Library& library, void* target, const void* source,
                                     std::size_t bytes, hipMemcpyKind kind, const Backend::Stream& stream,
                                     Wait wait) {
  graph::CopyWork work;
  if (const hipError_t status = graph::read_copy_1d(target, source, bytes, kind, work)) return status;
  return capture(library, stream, work, wait);
}

hipError_t copy_between_devices(void* target, int target_device, const void* source, int source_device,
                                std::size_t bytes, hipStream_t handle, Wait wait) {
  if (!valid_device(target_device) || !valid_device(source_device)) return hipErrorInvalidDevice;
  Backend::Stream stream{};
  if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
  if (bytes == 0) return hipSuccess;
  if (!target || !source) return hipErrorInvalidValue;
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict =
            capture_line(*library, target, source, bytes, hipMemcpyDeviceToDevice, stream, wait))
      return *verdict;
  return Backend::copy_between_devices(target, target_device, source, source_device, bytes, stream, wait);
}

}  // namespace

hipError_t copy_linear(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                       hipStream_t handle, Wait wait) {
  if (!hipdata::is_kind(kind)) return hipErrorInvalidMemcpyDirection;
  Backend::Stream stream{};
  if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
  if (bytes == 0) return hipSuccess;
  if (!target || !source) return hipErrorInvalidValue;
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = capture_line(*library, target, source, bytes, kind, stream, wait))
      return *verdict;
  return Backend::copy(target, source, bytes, kind, stream, wait);
}

}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipMemcpy(void* target, const void* source, size_t bytes, hipMemcpyKind kind) {
  return api([&] { return copy_linear(target, source, bytes, kind, nullptr, Wait::kYes); });
}

hipError_t hipMemcpyAsync(void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return api([&] { return copy_linear(target, source, bytes, kind, stream, Wait::kNo); });
}

hipError_t hipMemcpyWithStream(void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  return api([&] { return copy_linear(target, source, bytes, kind, stream, Wait::kYes); });
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t target, void* source, size_t bytes) {
  return api([&] { return copy_linear(target, source, bytes, hipMemcpyHostToDevice, nullptr, Wait::kYes); });
}

hipError_t hipMemcpyDtoH(void* target, hipDeviceptr_t source, size_t bytes) {
  return api([&] { return copy_linear(target, source, bytes, hipMemcpyDeviceToHost, nullptr, Wait::kYes); });
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes) {
  return api(
      [&] { return copy_linear(target, source, bytes, hipMemcpyDeviceToDevice, nullptr, Wait::kYes); });
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t target, void* source, size_t bytes, hipStream_t stream) {
  return api([&] { return copy_linear(target, source, bytes, hipMemcpyHostToDevice, stream, Wait::kNo); });
}

hipError_t hipMemcpyDtoHAsync(void* target, hipDeviceptr_t source, size_t bytes, hipStream_t stream) {
  return api([&] { return copy_linear(target, source, bytes, hipMemcpyDeviceToHost, stream, Wait::kNo); });
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes,
                              hipStream_t stream) {
  return api([&] { return copy_linear(target, source, bytes, hipMemcpyDeviceToDevice, stream, Wait::kNo); });
}

hipError_t hipMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                         size_t bytes) {
  return api([&] {
    return copy_between_devices(target, target_device, source, source_device, bytes, nullptr, Wait::kYes);
  });
}

hipError_t hipMemcpyPeerAsync(void* target, int target_device, const void* source, int source_device,
                              size_t bytes, hipStream_t stream) {
  return api([&] {
    return copy_between_devices(target, target_device, source, source_device, bytes, stream, Wait::kNo);
  });
}

}  // extern "C"
