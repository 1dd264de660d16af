// SPDX-License-Identifier: Apache-2.0
// Transfers: bulk transfers that a call left running (asynchronous copies), until a synchronizing call on
// their stream, event or device waits for them. Failures become faults of their stream.
//
// Any thread. At most kTransfersMax are left running, with at most kTransferBytesMax of packed rows; the next
// one waits for the oldest.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/session/faults.h"
#include "transport/base/deadline.h"
#include "transport/base/mutex.h"
#include "transport/request_queue.h"

namespace tf::proxy {

inline constexpr std::size_t kTransfersMax = 1024;
// Limit on packed rows of strided copies in flight: enough for one large copy.
inline constexpr std::size_t kTransferBytesMax = 256 << 20;

// How long a copy waits for an earlier one to the same memory.
inline constexpr std::chrono::seconds kLandingPatience{10};

// The hipError_t of a finished transfer: the worker's own if it aborted.
hipError_t transfer_error(const Status& status);

// Where a transfer belongs.
struct TransferPlace {
  int device = 0;
  std::uint64_t stream = 0;
  bool blocking = true;         // the stream is ordered with the null stream
  std::span<std::byte> target;  // the program's memory that it writes
};

struct Transfer : TransferPlace {
  BulkCompletion completion;
  std::uint64_t sequence = 0;
  // Packed rows of a strided copy, and what to do with them when they have arrived.
  std::unique_ptr<std::byte[]> packed;
  std::size_t packed_bytes = 0;
  std::function<void()> unpack;
  std::once_flag ended;
};

// The transfers that are done when a stream has reached some point: those of `stream`, or of every blocking
// stream of the device, up to a sequence number.
struct Reach {
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t through = 0;
  bool all_blocking = false;
  bool direct = true;  // not through a third stream, which may claim too much
};

class Transfers {
 public:
  Transfers(RequestQueue& queue, Faults& faults) : queue_(queue), faults_(faults) {}

  // A new transfer. The caller starts it, and gives its completion to the bulk plane.
  std::shared_ptr<Transfer> add(const TransferPlace& place);
  // The same with memory for packed rows. Null: there is none, or it would exceed kTransferBytesMax.
  std::shared_ptr<Transfer> add_packed(const TransferPlace& place, std::uint64_t bytes);
  // The caller could not start it.
  void drop(const std::shared_ptr<Transfer>& transfer);

  // Sequence number of the transfer added last: what an event recorded now covers.
  std::uint64_t last_sequence() const { return sequence_.load(std::memory_order_acquire); }  // with add()

  // What a wait for the stream, or for a point in it, covers: its own transfers up to `through`, and those of
  // streams that it has waited for. Empty if none is running.
  std::vector<Reach> reach(int device, std::uint64_t stream, bool blocking, std::uint64_t through);
  // The stream waits for everything in `reached`.
  void join(int device, std::uint64_t stream, std::vector<Reach> reached);
  // The null stream got work: it waits for the blocking streams, and they wait for it.
  void note_null_work(int device) {
    if (!none_running()) null_through_[static_cast<std::size_t>(device)].store(last_sequence());
  }
  bool none_running() const { return running_count_.load(std::memory_order_acquire) == 0; }  // with count()

  // Whether a running transfer writes memory in [address, address + bytes).
  bool writes(std::uint64_t address, std::uint64_t bytes);
  // Call it before a new transfer writes to `target`. Waits for running transfers that write there and could
  // end last: all of them if receives are not `in_order` (BulkPlane::fills_in_order()), else those with
  // packed rows. Returns after kLandingPatience in any case: they may need what the program does after this
  // call.
  void await_landing(std::span<const std::byte> target, bool in_order);

  // Wait until the given transfers are done. Their failures become faults.
  void await(std::span<const Reach> reached);
  void await_device(int device);
  void await_through(std::uint64_t through);
  void await_oldest();

  // Removes finished ones. True: some are still running.
  bool sweep();

 private:
  void count() TF_REQUIRES(mutex_);
  void note_target(std::span<const std::byte> target) TF_REQUIRES(mutex_);
  std::shared_ptr<Transfer> add(const TransferPlace& place, std::unique_ptr<std::byte[]> packed,
                                std::size_t packed_bytes);
  std::size_t packed_bytes() const TF_REQUIRES(mutex_);
  template <typename Wanted>
  void await_if(const Wanted& wanted, Deadline deadline = Deadline::never());
  void finished(Transfer& transfer);

  RequestQueue& queue_;
  Faults& faults_;
  Mutex mutex_;
  // Both are written under the mutex. A thread finds its own transfers counted, and those it was told of.
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::size_t> running_count_{0};
  std::list<std::shared_ptr<Transfer>> running_ TF_GUARDED_BY(mutex_);
  // All targets since something has been running lie in here: what does not meet it meets none of them.
  std::uint64_t targets_begin_ TF_GUARDED_BY(mutex_) = UINT64_MAX;
  std::uint64_t targets_end_ TF_GUARDED_BY(mutex_) = 0;
  // What streams wait for in addition, by PendingWork::mark_of(); cleared when nothing is running.
  std::unordered_map<std::uint64_t, std::vector<Reach>> joins_ TF_GUARDED_BY(mutex_);
  std::array<std::atomic<std::uint64_t>, protocol::kDevicesMax> null_through_{};
};

}  // namespace tf::proxy
