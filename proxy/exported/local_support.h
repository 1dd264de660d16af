// SPDX-License-Identifier: Apache-2.0
// What the local answers share: the session they are answered from, and the device they are about.
#pragma once

#include <hip/hip_runtime_api.h>

#include "proxy/base/thread_state.h"
#include "proxy/session/process.h"
#include "proxy/session/session.h"

namespace tf::proxy::local {

// Null after having noted why, in `error`: no session, or no device at all.
inline Session* session_for(hipError_t& error) {
  Session* session = acquire_session();
  error = session == nullptr ? no_session_error() : hipSuccess;
  if (session != nullptr && session->device_count() == 0) {
    error = hipErrorNoDevice;
    return nullptr;
  }
  return session;
}

// The snapshot of `device`. Null after having noted why.
inline const protocol::DeviceSnapshot* device_for(int device, hipError_t& error) {
  Session* session = session_for(error);
  if (session == nullptr) return nullptr;
  if (device < 0 || device >= session->device_count()) {
    error = hipErrorInvalidDevice;
    return nullptr;
  }
  return &session->snapshot().devices[static_cast<std::size_t>(device)];
}

}  // namespace tf::proxy::local
