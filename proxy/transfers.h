// SPDX-License-Identifier: Apache-2.0
// Transfers: bulk transfers that a call left running (asynchronous copies), until a synchronizing call of
// their stream, event or device waits for them. Failures become faults of their stream.
//
// Any thread. At most kTransfersMax are left running, with kTransferBytesMax of packed rows: the next one
// waits for the oldest.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "proxy/faults.h"
#include "transport/request_queue.h"

namespace tf::proxy {

inline constexpr std::size_t kTransfersMax = 1024;
// Of rows that are packed on the way (strided copies), as much as a large copy has.
inline constexpr std::size_t kTransferBytesMax = 256 << 20;

// The hipError_t a finished transfer stands for: the worker's own where it aborted.
hipError_t transfer_error(const Status& status);

struct Transfer {
  BulkCompletion completion;
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t sequence = 0;
  // Packed rows of a strided copy, and what is to be done with them when they have come.
  std::unique_ptr<std::byte[]> packed;
  std::size_t packed_bytes = 0;
  std::function<void()> unpack;
  std::once_flag ended;
};

class Transfers {
 public:
  Transfers(RequestQueue& queue, Faults& faults) : queue_(queue), faults_(faults) {}

  // A transfer to be started by the caller, who hands its completion to the bulk plane.
  std::shared_ptr<Transfer> add(int device, std::uint64_t stream);
  // The same with memory for packed rows. Null: there is none, or it would be more than kTransferBytesMax.
  std::shared_ptr<Transfer> add_packed(int device, std::uint64_t stream, std::uint64_t bytes);
  // The caller could not start it after all.
  void drop(const std::shared_ptr<Transfer>& transfer);

  // Sequence number of the transfer added last: what an event recorded now covers.
  std::uint64_t last_sequence() const { return sequence_.load(std::memory_order_acquire); }  // with add()

  // Wait until the transfers meant are over. Their failures are noted as faults.
  void await_stream(int device, std::uint64_t stream, std::uint64_t through = UINT64_MAX);
  void await_device(int device);
  void await_through(std::uint64_t through);
  void await_oldest();

  // Takes finished ones out. True: some are still running.
  bool sweep();

 private:
  bool none_running() const { return running_count_.load(std::memory_order_acquire) == 0; }  // with count()
  void count() { running_count_.store(running_.size(), std::memory_order_release); }
  std::shared_ptr<Transfer> add(int device, std::uint64_t stream, std::unique_ptr<std::byte[]> packed,
                                std::size_t packed_bytes);
  std::size_t packed_bytes() const;  // REQUIRES: mutex_
  template <typename Wanted>
  void await_if(const Wanted& wanted);
  void finished(Transfer& transfer);

  RequestQueue& queue_;
  Faults& faults_;
  std::mutex mutex_;
  // Both written under the mutex. A thread finds its own transfers, and those it was told of, counted.
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::size_t> running_count_{0};
  std::list<std::shared_ptr<Transfer>> running_;
};

}  // namespace tf::proxy
