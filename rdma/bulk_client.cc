// SPDX-License-Identifier: Apache-2.0
// The announcing end. It touches payload only where that goes through a slot or comes in a record.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "rdma/bulk.h"

#include "transport/base/mutex.h"

namespace tf::rdma {
namespace {

Status wrong(const char* what) { return {Code::kProtocol, std::string("rdma: bulk ") + what}; }

// Announced, and not yet entirely moved by the peer.
struct Piece {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t done = 0;
  Lease lease = {};
  const std::byte* target = nullptr;  // null: discard
  bool is_small = false;              // its payload may come in records
};

// A receive, or what is left of it to announce.
struct Posted {
  std::uint64_t tag = 0;
  std::byte* target = nullptr;  // null: discard
  std::uint64_t bytes = 0;
};

class ClientBulk final : public Bulk {
 public:
  ClientBulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions)
      : Bulk(plane, owner, std::move(regions)) {}

  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) override {
    return post({tag, target.data(), target.size()}, [&] { return queue_.receive(tag, target, completion); });
  }
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) override {
    return post({tag, nullptr, bytes}, [&] { return queue_.discard(tag, bytes, completion); });
  }

 private:
  template <typename Queue>
  Status post(const Posted& posted, Queue&& queue);
  Status posted(Status result) override;
  Status take(BulkOp op, const BulkNote& note, std::span<const std::byte> data) TF_REQUIRES(mutex_) override;
  Result<std::size_t> move() TF_REQUIRES(mutex_) override;
  // The peer's device moves payload, and ours no longer lets it.
  bool is_flushed() TF_REQUIRES(mutex_) override { return true; }
  void release_memory() TF_REQUIRES(mutex_) override;

  Result<bool> announce_send() TF_REQUIRES(mutex_);
  Result<bool> announce_target(std::deque<Posted>::iterator posted, bool is_wanted) TF_REQUIRES(mutex_);
  Result<std::size_t> announce_targets() TF_REQUIRES(mutex_);
  bool is_awaited(const Posted& posted) const TF_REQUIRES(mutex_);
  Status take_source_done(const BulkNote& note) TF_REQUIRES(mutex_);
  Status take_target_done(BulkOp op, const BulkNote& note, std::span<const std::byte> data)
      TF_REQUIRES(mutex_);
  Status take_abort(const BulkNote& note) TF_REQUIRES(mutex_);
  void take_want(std::uint64_t tag) TF_REQUIRES(mutex_);

  std::deque<Piece> sources_ TF_GUARDED_BY(mutex_);
  std::deque<Piece> targets_ TF_GUARDED_BY(mutex_);
  std::deque<Posted> posted_ TF_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> wanted_ TF_GUARDED_BY(mutex_);
};

// Runs in the caller's thread, so that the peer can begin while nobody drives this end. The movers will find
// a failure again.
Status ClientBulk::posted(Status result) {
  if (result.is_ok() && queue_.has_send()) {
    if (mutex_.try_lock()) {
      const MutexLock lock(mutex_, std::adopt_lock);
      if (!is_broken()) (void)move();
    }
  }
  note_post();
  return result;
}

template <typename Queue>
Status ClientBulk::post(const Posted& posted, Queue&& queue) {
  Status result;
  {
    const MutexLock lock(mutex_);
    result = queue();
    // Otherwise it completed at once: there was nothing to receive, or the tag is aborted.
    if (result.is_ok() && posted.bytes != 0 && queue_.has_receive(posted.tag)) {
      posted_.push_back(posted);
      if (!is_broken()) (void)announce_targets();
    }
  }
  note_post();
  return result;
}

// --- Announcing -------------------------------------------------------------------------------------------

Result<std::size_t> ClientBulk::move() {
  std::size_t count = 0;
  while (queue_.has_send() && sources_.size() < kPiecesMax) {
    Result<bool> announced = announce_send();
    if (!announced) return announced.status();
    if (!announced.value()) break;
    ++count;
  }
  Result<std::size_t> targets = announce_targets();
  if (!targets) return targets;
  return count + targets.value();
}

// Finds room first, so as not to register memory in vain.
Result<bool> ClientBulk::announce_send() {
  Result<bool> room = has_room();
  if (!room || !room.value()) return room;
  const auto next = queue_.next_send();
  if (!next) return false;
  if (next->is_abort) {
    Result<bool> said = say(BulkOp::kAbort, {.tag = next->tag, .reason = next->reason});
    if (!said || !said.value()) {
      queue_.advance_send(0);
      return said;
    }
    queue_.sent_abort();
    sources_.push_back({.tag = next->tag});
    return true;
  }
  // The peer only reads it.
  const std::span<std::byte> source(const_cast<std::byte*>(next->source.data()), next->source.size());
  std::optional<Lease> lease = regions_->lease(source, Direction::kOut);
  if (!lease) {
    queue_.advance_send(0);
    if (!sources_.empty()) return false;  // some will become free
    return Status{Code::kResourceExhausted, "rdma: memory to be sent cannot be registered"};
  }
  const BulkNote note{.tag = next->tag,
                      .address = reinterpret_cast<std::uintptr_t>(lease->memory),
                      .bytes = lease->bytes,
                      .key = lease->remote_key};
  Result<bool> said = say(BulkOp::kSource, note);
  if (!said || !said.value()) {
    lease->release();
    queue_.advance_send(0);
    return said;
  }
  queue_.hand_over_send(lease->bytes);
  sources_.push_back({.tag = next->tag, .bytes = note.bytes, .lease = std::move(*lease)});
  return true;
}

// First what the peer asked for, then in the order of posting.
Result<std::size_t> ClientBulk::announce_targets() {
  std::size_t count = 0;
  if (wanted_ && targets_.size() < kTargetsMax) {
    const auto found = std::find_if(posted_.begin(), posted_.end(),
                                    [tag = *wanted_](const Posted& each) { return each.tag == tag; });
    if (found != posted_.end()) {
      Result<bool> announced = announce_target(found, true);
      if (!announced) return announced.status();
      if (!announced.value()) return count;
      wanted_.reset();
      ++count;
    }
  }
  while (!posted_.empty() && targets_.size() < kPiecesMax && !is_awaited(posted_.front())) {
    Result<bool> announced = announce_target(posted_.begin(), false);
    if (!announced) return announced.status();
    if (!announced.value()) break;
    ++count;
  }
  return count;
}

// Whether bytes are still to arrive at the same place, in any way, which those of `posted` must not overtake.
// (If the peer wants the latter first, there is no order between them.)
bool ClientBulk::is_awaited(const Posted& posted) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(posted.target);
  return posted.target != nullptr && std::any_of(targets_.begin(), targets_.end(), [&](const Piece& each) {
           const auto place = reinterpret_cast<std::uintptr_t>(each.target);
           return each.target != nullptr && (begin - place < each.bytes || place - begin < posted.bytes);
         });
}

// What the peer wants cannot wait for slots that other targets hold: those may be for payload that the peer
// sends later. So if nothing can be registered it gets a small slot; there are more of these than a worker
// leaves half filled.
Result<bool> ClientBulk::announce_target(std::deque<Posted>::iterator posted, bool is_wanted) {
  Result<bool> room = has_room();
  if (!room || !room.value()) return room;
  Piece piece{.tag = posted->tag, .bytes = posted->bytes};
  BulkNote note{.tag = posted->tag};
  BulkOp op = BulkOp::kDiscard;
  if (posted->target != nullptr) {
    const std::span<const std::byte> target(posted->target, static_cast<std::size_t>(posted->bytes));
    piece.is_small = posted->bytes <= kSmallBytes && !regions_->has_device(target);
    op = piece.is_small ? BulkOp::kSmallTarget : BulkOp::kTarget;
    const std::span<std::byte> memory(posted->target, static_cast<std::size_t>(posted->bytes));
    std::optional<Lease> lease = regions_->lease(memory, Direction::kIn);
    if (!lease && is_wanted) lease = regions_->lease_small(memory);
    if (!lease) {
      if (!targets_.empty()) return false;
      return Status{Code::kResourceExhausted, "rdma: memory to receive into cannot be registered"};
    }
    piece.bytes = lease->bytes;
    piece.target = posted->target;
    note.address = reinterpret_cast<std::uintptr_t>(lease->memory);
    note.key = lease->remote_key;
    piece.lease = std::move(*lease);
  }
  note.bytes = piece.bytes;
  Result<bool> said = say(op, note);
  if (!said || !said.value()) return said;
  posted->bytes -= piece.bytes;
  if (posted->target != nullptr) posted->target += piece.bytes;
  if (posted->bytes == 0) posted_.erase(posted);
  targets_.push_back(std::move(piece));
  return true;
}

// --- What the peer tells ----------------------------------------------------------------------------------

Status ClientBulk::take(BulkOp op, const BulkNote& note, std::span<const std::byte> data) {
  switch (op) {
    case BulkOp::kSourceDone: return take_source_done(note);
    case BulkOp::kTargetDone:
    case BulkOp::kData: return take_target_done(op, note, data);
    case BulkOp::kAbort: return take_abort(note);
    case BulkOp::kWant: take_want(note.tag); return Status::ok();
    default: return wrong("record that a worker does not send");
  }
}

Status ClientBulk::take_source_done(const BulkNote& note) {
  if (sources_.empty() || note.bytes != sources_.front().bytes)
    return wrong("end of a transfer that was not announced");
  sources_.front().lease.release();
  sources_.pop_front();
  told_bytes_ += note.bytes;
  if (note.bytes != 0) queue_.finish_send(note.bytes);
  return Status::ok();
}

// Payload is in its place already, or in a slot, or here.
Status ClientBulk::take_target_done(BulkOp op, const BulkNote& note, std::span<const std::byte> data) {
  const auto piece =
      std::find_if(targets_.begin(), targets_.end(), [&](const Piece& each) { return each.tag == note.tag; });
  if (piece == targets_.end() || note.bytes == 0 || note.bytes > piece->bytes - piece->done)
    return wrong("payload for a target that was not announced");
  if (op == BulkOp::kData && !piece->is_small) return wrong("data for a target that is not small");
  const auto receive = queue_.find_receive(note.tag);
  if (!receive) return Status::ok();  // all failed in the meantime
  if (note.bytes > receive->bytes) return wrong("payload beyond its receive");
  const std::byte* from = nullptr;
  if (op == BulkOp::kData)
    from = data.data();
  else if (piece->lease.is_slot())
    from = piece->lease.memory + piece->done;
  if (from != nullptr && !receive->is_discard) std::memcpy(receive->target.data(), from, note.bytes);
  piece->done += note.bytes;
  told_bytes_ += note.bytes;
  if (piece->done == piece->bytes) targets_.erase(piece);  // deregistered before anybody is told
  queue_.advance_receive(note.tag, note.bytes);
  return Status::ok();
}

// If one is announced already, the two messages have crossed.
void ClientBulk::take_want(std::uint64_t tag) {
  if (std::none_of(targets_.begin(), targets_.end(), [&](const Piece& each) { return each.tag == tag; }))
    wanted_ = tag;
}

// The peer has written for the last time to what was announced for the tag.
Status ClientBulk::take_abort(const BulkNote& note) {
  std::erase_if(targets_, [&](const Piece& each) { return each.tag == note.tag; });
  std::erase_if(posted_, [&](const Posted& each) { return each.tag == note.tag; });
  if (wanted_ == note.tag) wanted_.reset();
  return queue_.abort_receive(note.tag, note.reason);
}

void ClientBulk::release_memory() {
  sources_.clear();
  targets_.clear();
  posted_.clear();
}

}  // namespace

std::unique_ptr<Bulk> make_client_bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions) {
  return std::make_unique<ClientBulk>(plane, owner, std::move(regions));
}

}  // namespace tf::rdma
