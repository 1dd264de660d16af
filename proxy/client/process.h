// SPDX-License-Identifier: Apache-2.0
// The process's one client: connected at the first call that needs it, kept until the process is gone.
//
// Never destroyed, because programs call HIP from static destructors. A child made by fork() cannot use its
// parent's connection: it neither reads nor writes it, and every call in it returns hipErrorNotInitialized.
// Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <memory>

#include "proxy/client/client.h"

namespace tf::proxy {

namespace internal {
// The client once it is connected; null again in the child of fork(). Release pairs with acquire_client().
extern constinit std::atomic<Client*> connected_client;
Client* acquire_first_client();
}  // namespace internal

// The client; connects at the first call. Null if there is none.
inline Client* acquire_client() {
  Client* const client = internal::connected_client.load(std::memory_order_acquire);
  return client != nullptr && !client->connection().lost() ? client : internal::acquire_first_client();
}

// The client if there is a usable one; never connects.
Client* current_client();

// Why acquire_client() returned null: hipErrorNotInitialized (no worker, wrong settings, forked child) or
// hipErrorDeinitialized (there was one and the worker is lost).
hipError_t no_client_error();

// Runs at the end of the process, after the program's own destructors: tells the worker.
void end_process();

// For tests: use this client instead of connecting. The caller keeps ownership; null removes it again.
void use_client(Client* client);

}  // namespace tf::proxy
