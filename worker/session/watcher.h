// SPDX-License-Identifier: Apache-2.0
// Watcher: the thread that reads the control connection of a session and the supervisor's channel.
//
// Ends the session when the client or the supervisor is gone, or what the client sends does not arrive; makes
// sure that the process ends even if a call of the runtime never returns. Sends what kernels print. Destroy
// it before the executor.
#pragma once

#include <atomic>
#include <thread>

#include "hipcore/wire/control_message.h"
#include "transport/base/status.h"
#include "transport/lane_watch.h"
#include "transport/net/fd.h"
#include "transport/net/stream.h"
#include "worker/base/kernel_output.h"
#include "worker/base/last_words.h"
#include "worker/session/executor.h"
#include "worker/session/output_sender.h"

namespace tf::worker {

inline constexpr const char* kClientLeft = "the client has left";

class Watcher {
 public:
  // All outlive it.
  Watcher(Executor& executor, Endpoint& endpoint, MemoryBroker& broker, KernelOutput& output,
          const net::Stream& control, LastWords& words);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher();

 private:
  bool finished() const { return finished_.load(std::memory_order_acquire); }  // pairs with the destructor
  void watch();
  Status turn();
  Status read_control();
  Status take_payload(const protocol::ControlMessage& message);
  bool read_channel();
  void stop(Status reason);
  void await_goodbye() const;

  Executor& executor_;
  MemoryBroker& broker_;
  KernelOutput& output_;
  OutputSender sender_;
  Endpoint& endpoint_;
  LaneWatch lanes_;
  const net::Stream control_;
  LastWords& words_;
  const net::OwnedFd wake_;
  std::atomic<bool> finished_{false};
  std::thread thread_;
};

}  // namespace tf::worker
