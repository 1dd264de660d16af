// SPDX-License-Identifier: Apache-2.0
// The bulk plane. The client announces its memory, and the worker's device reads and writes it: payload moves
// while the client's threads do something else. Control records travel on the plane's streams, as frames
// whose opcode is a BulkOp:
//   client to worker   source, target (normal, small, or to be thrown away), abort
//   worker to client   source done, target done, data, abort, want
// Sources are read in the order in which they were announced, and reported as done, whole, in that order.
// Targets are announced as their receives are posted, kPiecesMax at a time. If the worker needs a tag that
// has no announced target, it says "want", and the client announces that tag's next target before all others.
// Payload is WRITTEN on the queue pair that then carries the record which reports it. That record must not
// overtake the WRITE, so it waits until the device says that the WRITE is done. Payload for a small target
// may come inside the record instead: the copy costs less than that round trip. (Not from memory that no
// processor can read.)
//
// One mutex guards everything here, so any thread may move. The queue has its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <type_traits>

#include "rdma/plane.h"
#include "rdma/regions.h"
#include "transport/base/mutex.h"
#include "transport/bulk_queue.h"
#include "transport/endpoint.h"

namespace tf::rdma {

inline constexpr std::size_t kPiecesMax = 16;  // announced at a time, per direction
// Limit on announced targets, wanted ones included. A worker that sent the first parts of this many tags
// before the second part of any would wait for ever. Ours never has more tags half sent than it has staging
// buffers, 16.
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

// The payload of every record. Fields that an op does not need are zero. In a kData record its bytes follow.
struct BulkNote {
  std::uint64_t tag = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t reason = 0;  // of an abort
};
static_assert(sizeof(BulkNote) == 32 && std::has_unique_object_representations_v<BulkNote>);

// What the bulk plane needs from its endpoint. Any thread.
class BulkOwner {
 public:
  virtual Status status() const = 0;             // the sticky failure
  virtual void fail(Status reason) = 0;          // sets it
  virtual void take_failure(Status reason) = 0;  // a queue pair failed: perhaps the peer closed
  virtual void wake() = 0;                       // wakes a sleeping mover
  virtual Status look_now_and_then() = 0;        // nothing moved: returns a failure if the peer is lost

 protected:
  ~BulkOwner() = default;
};

// What client and worker share.
class Bulk : public QueuedBulkPlane {
 public:
  Result<std::size_t> move_payload() override;
  void remember(std::span<std::byte> memory) override { regions_->remember(memory); }
  void forget(std::span<std::byte> memory) override { regions_->forget(memory); }
  Status remember_device(std::span<std::byte> memory, int dmabuf, std::uint64_t offset) override {
    return regions_->remember_device(memory, {dmabuf, offset});
  }
  bool reaches(std::span<const std::byte> memory) const override { return regions_->reaches(memory); }

  // For wait(): whether move_payload() may have work. Any thread. kIfFree: if another thread is just looking,
  // leaves it to that thread. kAlways: for a thread about to sleep, which must be sure; the other thread may
  // have looked before the arrival that raised no event.
  enum class Look : std::uint8_t { kIfFree, kAlways };
  bool look(Look how);
  // Moves data without checking for a failure. After the peer is lost: returns 0 when everything that can
  // move has moved.
  std::size_t drain();
  // The peer closed with its stream at `position`. True: all its records have arrived and are handled.
  bool finish(std::uint64_t position);
  // The queue pairs are in error: ends all transfers, including those in flight.
  void fail_all(const Status& status);
  void note_post();
  bool has_pending() const { return queue_.has_pending(); }
  // Some memory lingers: somebody must call end_overdue() later (see Regions).
  bool has_lingering() const { return regions_->has_lingering(); }
  void end_overdue() {
    if (has_lingering()) regions_->end_overdue();
  }

 protected:
  Bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions)
      : plane_(plane), owner_(owner), regions_(std::move(regions)) {}

  // `data` is empty except for kData.
  virtual Status take(BulkOp op, const BulkNote& note, std::span<const std::byte> data)
      TF_REQUIRES(mutex_) = 0;
  virtual Result<std::size_t> move() TF_REQUIRES(mutex_) = 0;  // starts and ends what it can
  virtual bool is_flushed() TF_REQUIRES(mutex_) = 0;  // after an error: the device is done with all memory
  virtual void release_memory() TF_REQUIRES(mutex_) = 0;          // REQUIRES: is_flushed()
  bool is_broken() const TF_REQUIRES(mutex_) { return broken_; }  // a queue pair failed
  // False: no room now; move() is called again when there is.
  Result<bool> has_room() TF_REQUIRES(mutex_);  // for a record without data
  Result<bool> say(BulkOp op, const BulkNote& note, std::span<const std::byte> data = {}) TF_REQUIRES(mutex_);

  Plane& plane_;
  BulkOwner& owner_;
  std::size_t told_bytes_ TF_GUARDED_BY(mutex_) = 0;  // moved, according to the records taken
  BulkQueue queue_;
  Mutex mutex_;
  std::unique_ptr<Regions> regions_;

 private:
  BulkQueue& bulk_queue() override { return queue_; }
  Result<std::span<std::byte>> room_for(std::size_t payload) TF_REQUIRES(mutex_);
  Result<std::size_t> move_all() TF_REQUIRES(mutex_);
  Result<std::size_t> take_records() TF_REQUIRES(mutex_);

  std::atomic<bool> news_{false};  // move_payload() has work
  bool broken_ TF_GUARDED_BY(mutex_) = false;
  bool over_ TF_GUARDED_BY(mutex_) = false;  // and the queue pairs are gone
};

std::unique_ptr<Bulk> make_client_bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions);
std::unique_ptr<Bulk> make_worker_bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions);

}  // namespace tf::rdma
