// SPDX-License-Identifier: Apache-2.0
// Facts about streams that need no worker.
#include "proxy/exported/local_support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

constexpr std::uint64_t kConstantStreamMax = 2;  // null, hipStreamLegacy, hipStreamPerThread

hipError_t check_stream(hipStream_t stream) {
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return error;
  std::uint64_t raw = to_raw(stream);
  bool known =
      raw <= kConstantStreamMax || session->handles().of(protocol::HandleKind::kStream).contains(raw);
  return known ? hipSuccess : hipErrorContextIsDestroyed;
}

}  // namespace

int hipGetStreamDeviceId(hipStream_t stream) {
  if (check_stream(stream) != hipSuccess) return -1;
  std::uint64_t raw = to_raw(stream);
  if (raw <= kConstantStreamMax) return thread_state().device;
  return acquire_session()->handles().of(protocol::HandleKind::kStream).device(raw);
}

}  // namespace tf::proxy::local
