// SPDX-License-Identifier: Apache-2.0
// Recording an event with flags (HIP 6.4).
#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

constexpr unsigned kRecordExternal = 1;  // hipEventRecordExternal

// In a capture: a node that records the event whenever the graph runs, instead of an order inside the
// capture.
hipError_t record_in_capture(hipEvent_t event, hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* dependencies = nullptr;
  size_t count = 0;
  hipError_t error = hipStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &dependencies, &count);
  if (error != hipSuccess) return error;
  if (status != hipStreamCaptureStatusActive) return hipEventRecord(event, stream);
  hipGraphNode_t node = nullptr;
  error = hipGraphAddEventRecordNode(&node, graph, dependencies, count, event);
  if (error != hipSuccess) return error;
  return hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies);
}

}  // namespace
}  // namespace tf::composed

TF_COMPOSED hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags) {
  if (flags == 0) return hipEventRecord(event, stream);
  if (flags != tf::composed::kRecordExternal) return tf::composed::refuse(hipErrorInvalidValue);
  return tf::composed::record_in_capture(event, stream);
}
