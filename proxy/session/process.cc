// SPDX-License-Identifier: Apache-2.0
#include "proxy/session/process.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

#include "proxy/base/environment.h"
#include "proxy/base/log.h"
#include "proxy/session/connect.h"
#include "proxy/stats/counting.h"

namespace tf::proxy {

constinit std::atomic<Session*> internal::connected_session{nullptr};

namespace {

using internal::connected_session;

enum class Phase : int { kFresh, kConnected, kFailed, kForked };

struct Process {
  std::mutex mutex;  // connecting; never taken in a forked child
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
  const Session* session = connected_session.exchange(nullptr, std::memory_order_relaxed);  // as above
  if (session != nullptr) session->after_fork_in_child();
  state.phase.store(Phase::kForked, std::memory_order_relaxed);
}

Process* make_process() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  return new Process;
}

// Owned by the process: on purpose never freed.
Process& process() {
  static Process& state = *make_process();
  return state;
}

void connect_first(Process& state) {
  std::lock_guard lock(state.mutex);
  if (state.phase.load(std::memory_order_relaxed) != Phase::kFresh) return;  // under the mutex
  state.busy.store(true, std::memory_order_relaxed);
  Result<Settings> settings = read_settings();
  if (settings) set_debug(settings->debug);
  const stats::WaitScope waiting(stats::Wait::kConnect);
  Result<Session::Parts> parts = settings ? connect(*settings) : Result<Session::Parts>(settings.status());
  Phase next = Phase::kFailed;
  if (parts) {
    stats::note_transport(parts->endpoint->transport());
    auto session = std::make_unique<Session>(std::move(*parts));
    connected_session.store(session.release(), std::memory_order_release);  // pairs with acquire_session()
    next = Phase::kConnected;
  } else {
    std::string where = settings ? " (worker " + settings->worker + ")" : "";
    log_line("no worker" + where + ": " + parts.status().message());
  }
  state.busy.store(false, std::memory_order_relaxed);
  state.phase.store(next, std::memory_order_release);  // pairs with acquire_session()
}

}  // namespace

Session* internal::acquire_first_session() {
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
  return current_session();
}

Session* current_session() {
  Session* session = connected_session.load(std::memory_order_acquire);  // pairs with connect_first()
  return session != nullptr && !session->lost() ? session : nullptr;
}

hipError_t no_session_error() {
  return process().phase.load(std::memory_order_acquire) == Phase::kConnected ? kLostError
                                                                              : hipErrorNotInitialized;
}

void end_process() {
  stats::note_end();
  Process& state = process();
  if (state.phase.load(std::memory_order_acquire) != Phase::kConnected) return;
  Session* session = connected_session.load(std::memory_order_acquire);
  if (session == nullptr) return;
  session->goodbye();
  session->leave_threads();
}

void use_session(Session* session) {
  Process& state = process();
  std::lock_guard lock(state.mutex);
  connected_session.store(session, std::memory_order_release);
  state.phase.store(session != nullptr ? Phase::kConnected : Phase::kFresh, std::memory_order_release);
}

}  // namespace tf::proxy
