// SPDX-License-Identifier: Apache-2.0
// Callbacks: host functions that the client put on a stream. The stream waits, on one of the runtime's
// threads, until the client says that it has run the function, or the session ends.
//
// enqueue() belongs to the executor; done() and end() may be called from any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>

#include "hipcore/wire/gen/hip_table.h"
#include "transport/base/mutex.h"
#include "worker/base/sender.h"

namespace tf::worker {

inline constexpr std::size_t kCallbacksMax = 4096;  // on streams at the same time, per session

class Callbacks {
 public:
  explicit Callbacks(Sender& sender) : shared_(std::make_shared<Shared>(sender)) {}

  hipError_t enqueue(const protocol::HipTable& hip, hipStream_t stream, std::uint64_t cookie);
  // The client has run it. An unknown cookie means nothing.
  void done(std::uint64_t cookie);
  // Lets every callback, present and future, return at once.
  void end();

 private:
  struct Shared {
    explicit Shared(Sender& to) : sender(to) {}
    Sender& sender;
    Mutex mutex;
    CondVar changed;
    std::map<std::uint64_t, bool> waiting TF_GUARDED_BY(mutex);  // cookie -> whether the client has run it
    bool ended TF_GUARDED_BY(mutex) = false;
  };
  // What a queued callback holds on to. Owned by the runtime's queue; taken back when it is due.
  struct Due {
    std::shared_ptr<Shared> shared;
    std::uint64_t cookie = 0;
  };
  static void on_due(hipStream_t stream, hipError_t status, void* due);

  std::shared_ptr<Shared> shared_;
};

}  // namespace tf::worker
