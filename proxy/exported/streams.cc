// SPDX-License-Identifier: Apache-2.0
// Facts about streams that need no worker.
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

constexpr std::uint64_t kConstantStreamMax = 2;  // null, hipStreamLegacy, hipStreamPerThread

hipError_t check_stream(hipStream_t stream) {
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return error;
  std::uint64_t raw = to_raw(stream);
  bool known = raw <= kConstantStreamMax || client->handles().of(protocol::HandleKind::kStream).contains(raw);
  return known ? hipSuccess : hipErrorContextIsDestroyed;
}

}  // namespace

int hipGetStreamDeviceId(hipStream_t stream) {
  if (check_stream(stream) != hipSuccess) return -1;
  std::uint64_t raw = to_raw(stream);
  if (raw <= kConstantStreamMax) return thread_state().device;
  return acquire_client()->handles().of(protocol::HandleKind::kStream).device(raw);
}

}  // namespace tf::proxy::local
