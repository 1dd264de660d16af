// SPDX-License-Identifier: Apache-2.0
// The bulk plane. The client announces its memory, the worker's device reads and writes it: payload moves
// while the client's threads do something else. Control records travel on the plane's streams, frames whose
// opcode is a BulkOp:
//   client to worker   source, target (or a small one, or one that is thrown away), abort
//   worker to client   source done, target done, data, abort, want
// Sources are taken in the order of their announcing, and told as done, whole, in that order. Targets are
// announced as their receives are posted, kPiecesMax at a time; for a tag that has none the worker says
// "want", and the client announces that tag's next before all others. Payload is WRITTEN on the queue pair
// that then brings the record of it. For small targets it may come in that record: a record must not overtake
// what was WRITTEN before, so it has to wait until the device says that this is there; a copy takes less than
// that round trip. (Not from memory that no processor can read.)
//
// Everything here is guarded by a mutex: any thread may move. The queue has its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include "rdma/plane.h"
#include "rdma/regions.h"
#include "transport/bulk_queue.h"
#include "transport/endpoint.h"

namespace tf::rdma {

inline constexpr std::size_t kPiecesMax = 16;  // announced at a time, of each direction
// Targets with those that were wanted. A worker that sent the first parts of so many tags, and then the
// second parts of all, would wait for ever; ours leaves no more half sent than it has places of staging, 16.
inline constexpr std::size_t kTargetsMax = 256;

enum class BulkOp : std::uint16_t {
  kSource = 1,
  kTarget = 2,
  kDiscard = 3,
  kAbort = 4,
  kSourceDone = 5,
  kTargetDone = 6,
  kWant = 7,
  kSmallTarget = 8,
  kData = 9,
};

// The payload of every record; what an op does not need is zero. Behind that of kData come its bytes.
struct BulkNote {
  std::uint64_t tag = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t reason = 0;  // of an abort
};
static_assert(sizeof(BulkNote) == 32 && std::has_unique_object_representations_v<BulkNote>);

// What the bulk plane needs of its endpoint. Any thread.
class BulkOwner {
 public:
  virtual Status status() const = 0;             // the sticky failure
  virtual void fail(Status reason) = 0;          // sets it
  virtual void take_failure(Status reason) = 0;  // of a queue pair: perhaps the peer has closed
  virtual void wake() = 0;                       // a mover that sleeps
  virtual Status look_now_and_then() = 0;  // nothing moved: the failure, if the peer's loss ends things now

 protected:
  ~BulkOwner() = default;
};

// What client and worker have in common.
class Bulk : public QueuedBulkPlane {
 public:
  Result<std::size_t> poll() override;
  void remember(std::span<std::byte> memory) override { regions_->remember(memory); }
  void forget(std::span<std::byte> memory) override { regions_->forget(memory); }
  Status remember_device(std::span<std::byte> memory, int dmabuf, std::uint64_t offset) override {
    return regions_->remember_device(memory, {dmabuf, offset});
  }
  bool reaches(std::span<const std::byte> memory) const override { return regions_->reaches(memory); }

  // For wait(): poll() may do something. Any thread. kIfFree: what another thread is just looking at is left
  // to it. Whoever then sleeps has to be sure: the other may have looked before what came gave no event.
  enum class Look : std::uint8_t { kIfFree, kAlways };
  bool look(Look how);
  // Moves without a look at the failure. After the peer's loss: nothing, when all that can be has been.
  std::size_t drain();
  // The peer has closed with its stream at `position`. True: all records of it are here and handled.
  bool finish(std::uint64_t position);
  // The queue pairs are in error: ends what is under way, and all transfers.
  void fail_all(const Status& status);
  void note_post();
  bool has_pending() const { return queue_.has_pending(); }
  // Memory that lingers wants somebody to look again (Regions).
  bool has_lingering() const { return regions_->has_lingering(); }
  void end_overdue() {
    if (has_lingering()) regions_->end_overdue();
  }

 protected:
  Bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions)
      : plane_(plane), owner_(owner), regions_(std::move(regions)) {}

  // All with mutex_ held.
  // `data` is empty but for kData.
  virtual Status take(BulkOp op, const BulkNote& note, std::span<const std::byte> data) = 0;
  virtual Result<std::size_t> move() = 0;     // starts and ends what can be
  virtual bool is_flushed() = 0;              // after an error: the device has finished with all memory,
  virtual void release_memory() = 0;          // that no device touches any more
  bool is_broken() const { return broken_; }  // a queue pair failed
  // False: no room now; a move() follows when there is some.
  Result<bool> has_room();  // for a record without data
  Result<bool> say(BulkOp op, const BulkNote& note, std::span<const std::byte> data = {});

  Plane& plane_;
  BulkOwner& owner_;
  std::size_t told_bytes_ = 0;  // moved, by the records that have been taken
  BulkQueue queue_;
  std::mutex mutex_;
  std::unique_ptr<Regions> regions_;

 private:
  BulkQueue& bulk_queue() override { return queue_; }
  Result<std::span<std::byte>> room_for(std::size_t payload);
  Result<std::size_t> move_all();
  Result<std::size_t> take_records();

  std::atomic<bool> news_{false};  // poll() has something to look at
  bool broken_ = false;
  bool over_ = false;  // and there are no queue pairs any more
};

std::unique_ptr<Bulk> make_client_bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions);
std::unique_ptr<Bulk> make_worker_bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions);

}  // namespace tf::rdma
