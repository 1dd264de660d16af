// SPDX-License-Identifier: Apache-2.0
// The process's one session: connected at the first call that needs it, kept until the process is gone.
//
// Never destroyed, because programs call HIP from static destructors. A child made by fork() cannot use its
// parent's connection: it neither reads nor writes it, and every call there returns hipErrorNotInitialized.
// Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <memory>

#include "proxy/session/session.h"

namespace tf::proxy {

namespace internal {
// The session once it is connected. Null again in the child of fork(). Release pairs with acquire_session().
extern constinit std::atomic<Session*> connected_session;
Session* acquire_first_session();
}  // namespace internal

// The session, connecting if this is the first time; null when there is none.
inline Session* acquire_session() {
  Session* const session = internal::connected_session.load(std::memory_order_acquire);
  return session != nullptr && !session->lost() ? session : internal::acquire_first_session();
}

// The session if there is a usable one already; never connects.
Session* current_session();

// Why acquire_session() returned null: hipErrorNotInitialized (no worker, wrong settings, forked child) or
// hipErrorDeinitialized (there was a session and the worker is lost).
hipError_t no_session_error();

// At the end of the process, after the program's own destructors: lets the worker know.
void end_process();

// Tests: use this session instead of connecting. The caller keeps owning it; null takes it away again.
void use_session(Session* session);

}  // namespace tf::proxy
