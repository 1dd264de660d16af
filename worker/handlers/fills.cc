// SPDX-License-Identifier: Apache-2.0
// Fills of every shape, each with the runtime's asynchronous function for it: the executor must not wait for
// a stream. Executor thread.
#include "hipcore/wire/fill.h"
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

using protocol::FillRequest;

hipError_t fill_row(const protocol::HipTable& hip, const FillRequest& request, hipStream_t stream) {
  auto* const target = reinterpret_cast<void*>(request.target);
  const auto value = static_cast<int>(request.value);
  const std::uint32_t element = protocol::element_bytes(request.form);
  const std::size_t count = request.width / element;
  switch (element) {
    case 1: return hip.hipMemsetAsync(target, value, count, stream);
    case 2: return hip.hipMemsetD16Async(target, static_cast<unsigned short>(request.value), count, stream);
    default: return hip.hipMemsetD32Async(target, value, count, stream);
  }
}

// Rows of elements: runtimes since HIP 7.1 have a function for them, and the older ones fill row by row.
hipError_t fill_element_rows(const protocol::HipTable& hip, const FillRequest& request, hipStream_t stream) {
  auto* const target = reinterpret_cast<void*>(request.target);
  const std::uint32_t element = protocol::element_bytes(request.form);
  const std::size_t count = request.width / element;
  hipError_t error =
      element == 2
          ? hip.hipMemsetD2D16Async(target, request.pitch, static_cast<unsigned short>(request.value), count,
                                    request.height, stream)
          : hip.hipMemsetD2D32Async(target, request.pitch, request.value, count, request.height, stream);
  if (error != hipErrorNotSupported) return error;
  FillRequest row = request;
  error = hipSuccess;
  for (std::uint64_t y = 0; y < request.height && error == hipSuccess; ++y, row.target += request.pitch)
    error = fill_row(hip, row, stream);
  return error;
}

hipError_t fill_rows(const protocol::HipTable& hip, const FillRequest& request, hipStream_t stream) {
  if (protocol::element_bytes(request.form) != 1) return fill_element_rows(hip, request, stream);
  return hip.hipMemset2DAsync(reinterpret_cast<void*>(request.target), request.pitch,
                              static_cast<int>(request.value), request.width, request.height, stream);
}

hipError_t fill_slices(const protocol::HipTable& hip, const FillRequest& request, hipStream_t stream) {
  const std::size_t rows = request.slice / request.pitch;
  const hipPitchedPtr target{reinterpret_cast<void*>(request.target), request.pitch, request.width, rows};
  const hipExtent extent{request.width, request.height, request.depth};
  return hip.hipMemset3DAsync(target, static_cast<int>(request.value), extent, stream);
}

// What is wrong with the request; null: nothing, a correct client may send it.
const char* wrong_with(const FillRequest& request) {
  const std::uint32_t element = protocol::element_bytes(request.form);
  if (protocol::is_synchronous(request.form) && request.stream != 0)
    return "Fill: synchronous, and on a stream";
  if (element != 1 && element != 2 && element != 4) return "Fill: an element is of 1, 2 or 4 bytes";
  if (request.width % element != 0) return "Fill: width is not a multiple of the element";
  if (element != 1 && request.depth > 1) return "Fill: more than one slice needs elements of 1 byte";
  return nullptr;
}

// REQUIRES: the memory is the session's
hipError_t fill_shape(const protocol::HipTable& hip, const FillRequest& request, hipStream_t stream) {
  if (request.width == 0 || request.height == 0 || request.depth == 0) return hipSuccess;
  if (request.height == 1 && request.depth == 1) return fill_row(hip, request, stream);
  if (request.depth == 1) return fill_rows(hip, request, stream);
  const bool whole_rows = request.pitch != 0 && request.slice % request.pitch == 0;
  return whole_rows ? fill_slices(hip, request, stream) : hipErrorInvalidValue;
}

}  // namespace

void fill(Call& call, const FillRequest& request) {
  if (const char* wrong = wrong_with(request)) return static_cast<void>(call.reject(wrong));
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const bool owned = session.addresses.holds_box(request.target, request.pitch, request.slice, request.width,
                                                 request.height, request.depth);
  void* stream = nullptr;
  if (protocol::is_synchronous(request.form))
    session.late_fills.begin();
  else if (!call.lookup(protocol::HandleKind::kStream, request.stream, stream))
    return;
  if (!owned) return call.finish(hipErrorInvalidValue);
  const ExecutionScope executed(session.executions, call.header(), static_cast<hipStream_t>(stream),
                                session.device.get(), request.stream,
                                request.width * request.height * request.depth);
  call.finish(fill_shape(call.hip(), request, static_cast<hipStream_t>(stream)), request.stream);
}

}  // namespace tf::worker::custom
