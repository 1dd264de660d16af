// SPDX-License-Identifier: Apache-2.0
// Connects the process's client once, and cuts it off in the child of fork().
#include "proxy/client/process.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "proxy/base/environment.h"
#include "proxy/base/log.h"
#include "proxy/session/connect.h"
#include "proxy/session/find_worker.h"
#include "proxy/stats/counting.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

constinit std::atomic<Client*> internal::connected_client{nullptr};

namespace {

using internal::connected_client;

enum class Phase : int { kFresh, kConnected, kFailed, kForked };

struct Process {
  Mutex mutex;  // connecting; never taken in a forked child
  std::atomic<Phase> phase{Phase::kFresh};
  std::atomic<bool> busy{false};  // a thread is connecting right now; guards against fork in between
  LogOnce forked_told;
};

Process& process();

// In the child of fork(): only async-signal-safe things.
void after_fork_in_child() {
  Process& state = process();
  bool untouched = state.phase.load(std::memory_order_relaxed) == Phase::kFresh &&
                   !state.busy.load(std::memory_order_relaxed);  // single-threaded here
  if (untouched || state.phase.load(std::memory_order_relaxed) == Phase::kForked) return;
  const Client* client = connected_client.exchange(nullptr, std::memory_order_relaxed);  // as above
  if (client != nullptr) client->connection().after_fork_in_child();
  state.phase.store(Phase::kForked, std::memory_order_relaxed);
}

Process* make_process() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  return new Process;
}

// Owned by the process; deliberately never freed.
Process& process() {
  static Process& state = *make_process();
  return state;
}

unsigned copy_helpers(const Settings& settings) {
  return settings.copy_threads ? *settings.copy_threads - 1 : CopyThreads::helpers_to_spare();
}

void connect_first(Process& state) {
  const MutexLock lock(state.mutex);
  if (state.phase.load(std::memory_order_relaxed) != Phase::kFresh) return;  // under the mutex
  state.busy.store(true, std::memory_order_relaxed);
  Result<Settings> settings = read_settings();
  if (settings) set_debug(settings->debug);
  const stats::WaitScope waiting(stats::Wait::kConnect);
  const Status found = settings ? find_worker(*settings) : settings.status();
  Result<Connected> parts = found ? connect(*settings) : Result<Connected>(found);
  Phase next = Phase::kFailed;
  if (parts) {
    stats::note_transport(parts->endpoint->transport());
    auto client = std::make_unique<Client>(std::move(*parts), copy_helpers(*settings));
    client->connection().worker_trace().begin();
    connected_client.store(client.release(), std::memory_order_release);  // pairs with acquire_client()
    next = Phase::kConnected;
  } else {
    const std::string where = found ? " (worker " + settings->worker + ")" : "";
    log_line("no worker" + where + ": " + parts.status().message());
  }
  state.busy.store(false, std::memory_order_relaxed);
  state.phase.store(next, std::memory_order_release);  // pairs with acquire_client()
}

}  // namespace

Client* internal::acquire_first_client() {
  Process& state = process();
  Phase phase = state.phase.load(std::memory_order_acquire);  // pairs with connect_first()
  if (phase == Phase::kFresh) {
    connect_first(state);
    phase = state.phase.load(std::memory_order_acquire);
  }
  if (phase == Phase::kForked) {
    state.forked_told.line(
        "a process made by fork() cannot use its parent's HIP session; "
        "start HIP in the child only, or use spawn or exec");
    return nullptr;
  }
  return current_client();
}

Client* current_client() {
  Client* client = connected_client.load(std::memory_order_acquire);  // pairs with connect_first()
  return client != nullptr && !client->connection().lost() ? client : nullptr;
}

hipError_t no_client_error() {
  return process().phase.load(std::memory_order_acquire) == Phase::kConnected ? kLostError
                                                                              : hipErrorNotInitialized;
}

void end_process() {
  stats::note_end();
  Process& state = process();
  if (state.phase.load(std::memory_order_acquire) != Phase::kConnected) return;
  Client* client = connected_client.load(std::memory_order_acquire);
  if (client == nullptr) return;
  client->connection().await_output();
  client->connection().worker_trace().finish();
  client->connection().goodbye();
  client->leave_threads();
}

void use_client(Client* client) {
  Process& state = process();
  const MutexLock lock(state.mutex);
  connected_client.store(client, std::memory_order_release);
  state.phase.store(client != nullptr ? Phase::kConnected : Phase::kFresh, std::memory_order_release);
}

}  // namespace tf::proxy
