// SPDX-License-Identifier: Apache-2.0
// Counts who uses the session; cuts it off in the child of fork().
#include "smi/client/process.h"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <utility>

#include "proxy/base/log.h"
#include "transport/base/mutex.h"

namespace tf::smi {
namespace {

struct Shared {
  Mutex mutex;
  unsigned users TF_GUARDED_BY(mutex) = 0;
  std::shared_ptr<Remote> remote TF_GUARDED_BY(mutex);
  std::atomic<const Remote*> current{nullptr};  // for the child of fork(), which may not take the mutex
};

std::atomic<Shared*> shared{nullptr};

// Its parent's threads are gone with what they had locked, so the child begins anew. Async-signal-safe.
void forget_in_child() {
  const Shared* const parents = shared.exchange(nullptr);
  if (parents == nullptr) return;
  if (const Remote* const remote = parents->current.load()) remote->after_fork_in_child();
}

// Owned by the process; never freed.
Shared& state() {
  static const int registered = pthread_atfork(nullptr, nullptr, forget_in_child);
  static_cast<void>(registered);
  Shared* found = shared.load();
  if (found != nullptr) return *found;
  auto fresh = std::make_unique<Shared>();
  return shared.compare_exchange_strong(found, fresh.get()) ? *fresh.release() : *found;
}

}  // namespace

Status init() {
  Shared& all = state();
  const MutexLock lock(all.mutex);
  if (all.remote == nullptr || all.remote->lost()) {
    Result<std::unique_ptr<Remote>> connected = Remote::connect();
    if (!connected) {
      proxy::log_line("no worker for SMI: " + connected.status().message());
      return connected.status();
    }
    all.remote = std::move(*connected);
    all.current.store(all.remote.get());
  }
  ++all.users;
  return Status::ok();
}

Status shut_down() {
  Shared& all = state();
  std::shared_ptr<Remote> last;  // ends behind the lock
  const MutexLock lock(all.mutex);
  if (all.users == 0) return {Code::kInvalidArgument, "shut down more often than initialized"};
  if (--all.users != 0) return Status::ok();
  all.current.store(nullptr);
  last = std::move(all.remote);
  return Status::ok();
}

Status with_remote(const std::function<Status(Remote&)>& use) {
  std::shared_ptr<Remote> remote;
  {
    Shared& all = state();
    const MutexLock lock(all.mutex);
    if (all.users != 0) remote = all.remote;
  }
  return remote != nullptr ? use(*remote) : Status(Code::kUnavailable, "not initialized");
}

}  // namespace tf::smi
