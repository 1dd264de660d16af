// SPDX-License-Identifier: Apache-2.0
// Turns: copies that wait for their turn on the client's side.
//
// Payload to the device is read when its copy is posted. If earlier work may still write the source (a host
// function, a copy from the device to the same memory), that is too early. Then the copy becomes a callback
// of its stream; when the callback is due, and the stream stands still, the copy is made on another stream of
// the device. While one waits, no copy is posted that could keep the worker busy until the stream continues.
// Only for memory that is not pageable; pageable memory is read during the call. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/copy/plan.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class Turns {
 public:
  explicit Turns(CopyEngine& engine) : engine_(engine) {}

  // Some have not been made yet. A thread that copies sees those that it knows of.
  bool any() const { return waiting_.load(std::memory_order_acquire) != 0; }  // pairs with take()
  // Queues the copy on its stream. A failure becomes a fault of the stream.
  hipError_t take(const CopyMode& mode, const Box& box, hipMemcpyKind kind);

 private:
  std::uint64_t other_stream(int device);

  CopyEngine& engine_;
  std::atomic<std::size_t> waiting_{0};
  // The streams on which they are made, while their own stand still. 0: none yet.
  Mutex streams_mutex_;
  std::array<std::uint64_t, protocol::kDevicesMax> streams_ TF_GUARDED_BY(streams_mutex_){};
};

}  // namespace tf::proxy
