// SPDX-License-Identifier: Apache-2.0
// Attendant: sends what the device has delivered while the executor cannot.
//
// A runtime of a GPU takes about 1000 pieces of work for a stream; a launch beyond that blocks the executor
// until the stream goes on. If the stream waits for a host function, and the function for payload in front of
// it, nobody else would send that. So while host functions are on streams, a thread looks whether the
// executor does. It starts with the first of them.
#pragma once

#include <thread>

#include "transport/base/mutex.h"
#include "worker/copy/slot_copies.h"
#include "worker/session/callbacks.h"

namespace tf::worker {

class Attendant {
 public:
  // Both outlive it.
  Attendant(const Callbacks& callbacks, SlotCopies& copies) : callbacks_(callbacks), copies_(copies) {}
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;
  ~Attendant();

  // There is a host function. Executor thread. Without a thread for it the session goes on as if the executor
  // never blocked.
  void callback_queued();

 private:
  void run();

  const Callbacks& callbacks_;
  SlotCopies& copies_;
  Mutex mutex_;
  CondVar changed_;
  bool needed_ TF_GUARDED_BY(mutex_) = false;
  bool stopping_ TF_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the executor's, and the destructor's
};

}  // namespace tf::worker
