// SPDX-License-Identifier: Apache-2.0
// Capturing streams. HIP's numbers of modes, states and flags are CUDA's.
#include "worker/runtime/cuda/api.h"

namespace tf::cuda {
namespace {

hipError_t capture_info(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                        hipGraph_t* graph, const hipGraphNode_t** dependencies, std::size_t* count) {
  if (!status) return hipErrorInvalidValue;
  int state = 0;
  std::uint64_t number = 0;
  const hipError_t error =
      check(cu().StreamGetCaptureInfo(stream, &state, id ? &number : nullptr, graph, dependencies, count));
  if (error != hipSuccess) return error;
  *status = static_cast<hipStreamCaptureStatus>(state);
  if (id) *id = number;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return api([&] { return check(cu().StreamBeginCapture(stream, mode)); });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return api([&] { return graph ? check(cu().StreamEndCapture(stream, graph)) : hipErrorInvalidValue; });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return api([&] {
    if (!status) return hipErrorInvalidValue;
    int state = 0;
    const hipError_t error = check(cu().StreamIsCapturing(stream, &state));
    if (error == hipSuccess) *status = static_cast<hipStreamCaptureStatus>(state);
    return error;
  });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return api([&] { return capture_info(stream, status, id, nullptr, nullptr, nullptr); });
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status,
                                      unsigned long long* id, hipGraph_t* graph,
                                      const hipGraphNode_t** dependencies, size_t* count) {
  return api([&] { return capture_info(stream, status, id, graph, dependencies, count); });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* nodes, size_t count,
                                              unsigned int flags) {
  return api([&] { return check(cu().StreamUpdateCaptureDependencies(stream, nodes, count, flags)); });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return api([&] {
    if (!mode) return hipErrorInvalidValue;
    int number = *mode;
    const hipError_t error = check(cu().ThreadExchangeStreamCaptureMode(&number));
    if (error == hipSuccess) *mode = static_cast<hipStreamCaptureMode>(number);
    return error;
  });
}

}  // extern "C"
