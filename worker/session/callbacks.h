// SPDX-License-Identifier: Apache-2.0
// Callbacks: host functions that the client put on a stream, and copies whose payload it sends when the
// stream gets there. The stream waits, on one of the runtime's threads, until the client says that it has run
// the function or has sent the payload, or the session ends.
//
// enqueue(), wait_for_room() and refuse() belong to the executor; the others may be called from any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "hipcore/wire/gen/hip_table.h"
#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "worker/base/life.h"
#include "worker/base/sender.h"

namespace tf::worker {

inline constexpr std::size_t kCallbacksMax = 4096;  // on streams at the same time, per session

class Callbacks {
 public:
  explicit Callbacks(Sender& sender) : shared_(std::make_shared<Shared>(sender)) {}

  // Waits while there are kCallbacksMax. False: the session ends.
  bool wait_for_room(Life& life);
  struct Order {
    std::uint64_t cookie = 0;
    // Where the payload belongs; empty: there is none. It is written until the stream goes on.
    std::span<std::byte> landing = {};
    std::uint64_t follows = 0;  // it is due as soon as this one is; 0: when the stream is there
  };
  hipError_t enqueue(const protocol::HipTable& hip, hipStream_t stream, const Order& order);
  // Tells the client that what it asked for under `cookie` will not be due. Its Fault precedes this.
  void refuse(std::uint64_t cookie);

  // The client has run it, or will not send the payload: the stream has failed. An unknown cookie means
  // nothing.
  void done(std::uint64_t cookie);
  // The client sends `bytes` of payload, which `read` puts into its argument. Any failure: nothing good.
  using Read = std::function<Status(std::span<std::byte>)>;
  Status take_payload(std::uint64_t cookie, std::uint64_t bytes, const Read& read);
  // Some are on streams.
  bool any() const;
  // Lets every callback, present and future, return at once.
  void end();

 private:
  struct Waiting {
    std::span<std::byte> landing;
    std::uint64_t next = 0;  // the one that follows it
    bool announced = false;  // the client knows that it is due
    bool done = false;
  };
  struct Shared {
    explicit Shared(Sender& to) : sender(to) {}
    // Tells the client that these are due: `cookie` and what follows it.
    void announce(std::uint64_t cookie, hipError_t status) TF_REQUIRES(mutex);
    // Both are queued.
    void link(const Order& order);

    Sender& sender;
    Mutex mutex;
    CondVar changed;
    std::map<std::uint64_t, Waiting> waiting TF_GUARDED_BY(mutex);  // by cookie
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
