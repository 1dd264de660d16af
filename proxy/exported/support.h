// SPDX-License-Identifier: Apache-2.0
// What the hand-written bodies share: how every one of them begins. `local`: those that need no message, and
// are called by their arguments alone.
#pragma once

#include <hip/hip_runtime_api.h>

#include "proxy/base/thread_state.h"
#include "proxy/client/client.h"
#include "proxy/client/process.h"
#include "proxy/exported/api_call.h"
#include "proxy/exported/context.h"

namespace tf::proxy {

// The copy mode for `stream` of this call. False: unknown stream; return call.finish().
inline bool copy_mode(ApiCall& call, hipStream_t stream, bool wait, CopyMode& mode) {
  mode.device = call.device();
  mode.wait = wait;
  return call.translate(protocol::HandleKind::kStream, stream, mode.stream);
}

// For calls that no graph can hold, and for queries of a stream: an error if the stream is being captured,
// which also ends the capture.
inline hipError_t refuse_captured(ApiCall& call, std::uint64_t stream) {
  Graphs& graphs = call.client().graphs();
  if (!graphs.capturing()) return hipSuccess;
  return graphs.library().refuse(graphs.reference(call.device(), stream)).value_or(hipSuccess);
}

}  // namespace tf::proxy

namespace tf::proxy::local {

// Null after having noted why, in `error`: no client, or no device at all. The worker may be lost at any
// time: a body gets the client once, and keeps it.
inline Client* client_for(hipError_t& error) {
  Client* client = acquire_client();
  error = client == nullptr ? no_client_error() : hipSuccess;
  if (client != nullptr && !client->has_devices()) {
    error = hipErrorNoDevice;
    return nullptr;
  }
  return client;
}

// The snapshot of `device`; null, with `error` set.
inline const protocol::DeviceSnapshot* device_for(int device, hipError_t& error) {
  Client* client = client_for(error);
  if (client == nullptr) return nullptr;
  if (device < 0 || device >= client->device_count()) {
    error = hipErrorInvalidDevice;
    return nullptr;
  }
  return &client->snapshot().devices[static_cast<std::size_t>(device)];
}

inline constexpr std::uint64_t kConstantStreamMax = 2;  // null, hipStreamLegacy, hipStreamPerThread

// As client_for(error), for a call on `stream`; null also for an unknown stream.
inline Client* client_for(hipStream_t stream, hipError_t& error) {
  Client* client = client_for(error);
  if (client == nullptr) return nullptr;
  std::uint64_t raw = to_raw(stream);
  if (raw <= kConstantStreamMax || client->handles().of(protocol::HandleKind::kStream).contains(raw))
    return client;
  error = hipErrorContextIsDestroyed;
  return nullptr;
}

}  // namespace tf::proxy::local
