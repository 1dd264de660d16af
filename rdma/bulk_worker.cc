// SPDX-License-Identifier: Apache-2.0
// The moving end: a few transfers in each direction are under way at a time (under_way.h), and end in order.
#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "rdma/bulk.h"
#include "rdma/under_way.h"

namespace tf::rdma {
namespace {

constexpr std::size_t kAbortedMax = 4096;  // tags whose late targets are dropped

Status wrong(const char* what) { return {Code::kProtocol, std::string("rdma: bulk ") + what}; }

struct Source {
  std::uint64_t tag = 0;
  RemoteMemory memory = {};
  std::uint64_t bytes = 0;
  std::uint64_t started = 0;  // bytes being read, or read
  std::uint64_t done = 0;     // that have been
  bool is_abort = false;      // until its receives have heard
  std::uint32_t reason = 0;
  bool is_started() const { return !is_abort && started == bytes; }
  bool is_done() const { return !is_abort && done == bytes; }
};

struct Target {
  RemoteMemory memory;
  std::uint64_t bytes = 0;
  std::uint64_t started = 0;
  std::uint64_t done = 0;  // and reported
  BulkOp kind = BulkOp::kTarget;
};

class WorkerBulk final : public Bulk {
 public:
  WorkerBulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions)
      : Bulk(plane, owner, std::move(regions)) {}

 private:
  Status posted(Status result) override {
    note_post();
    return result;
  }
  Status take(BulkOp op, const BulkNote& note, std::span<const std::byte> data) TF_REQUIRES(mutex_) override;
  Result<std::size_t> move() TF_REQUIRES(mutex_) override;
  bool is_flushed() TF_REQUIRES(mutex_) override;
  void release_memory() TF_REQUIRES(mutex_) override;

  Status take_source(const Source& source) TF_REQUIRES(mutex_);
  Status take_target(BulkOp op, const BulkNote& note) TF_REQUIRES(mutex_);
  Result<std::size_t> move_in() TF_REQUIRES(mutex_);
  Result<bool> tell_source_done() TF_REQUIRES(mutex_);
  std::uint64_t end_read() TF_REQUIRES(mutex_);
  Result<std::size_t> start_read() TF_REQUIRES(mutex_);
  Result<std::size_t> read_into(std::span<std::byte> target, Source& source) TF_REQUIRES(mutex_);
  void begin_read(Transfer read, Source& source) TF_REQUIRES(mutex_);
  Result<std::size_t> move_out() TF_REQUIRES(mutex_);
  Result<bool> tell_written() TF_REQUIRES(mutex_);
  Result<bool> send_abort(const BulkQueue::Outgoing& next) TF_REQUIRES(mutex_);
  Result<std::size_t> start_write() TF_REQUIRES(mutex_);
  Result<bool> write_next(const BulkQueue::Outgoing& next) TF_REQUIRES(mutex_);
  Result<bool> ask_for(std::uint64_t tag) TF_REQUIRES(mutex_);
  Result<bool> write_to(const BulkQueue::Outgoing& next, Target& target) TF_REQUIRES(mutex_);
  void begin_write(Transfer write, Target& target) TF_REQUIRES(mutex_);
  static ibv_send_wr make_request(ibv_sge& piece, const Lease& lease, const RemoteMemory& memory,
                                  std::uint64_t offset);

  std::deque<Source> sources_ TF_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::deque<Target>> targets_ TF_GUARDED_BY(mutex_);  // no empty queues
  std::size_t target_count_ TF_GUARDED_BY(mutex_) = 0;
  std::unordered_set<std::uint64_t> aborted_ TF_GUARDED_BY(mutex_);
  std::deque<std::uint64_t> aborted_order_ TF_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> wanted_ TF_GUARDED_BY(mutex_);  // the tag last asked for
  UnderWay reads_ TF_GUARDED_BY(mutex_);
  UnderWay writes_ TF_GUARDED_BY(mutex_);  // and targets that need none
};

// --- What the peer tells ----------------------------------------------------------------------------------

Status WorkerBulk::take(BulkOp op, const BulkNote& note, std::span<const std::byte>) {
  switch (op) {
    case BulkOp::kSource:
      if (note.bytes == 0) return wrong("source without bytes");
      return take_source({.tag = note.tag, .memory = {note.address, note.key}, .bytes = note.bytes});
    case BulkOp::kAbort: return take_source({.tag = note.tag, .is_abort = true, .reason = note.reason});
    case BulkOp::kTarget:
    case BulkOp::kSmallTarget:
    case BulkOp::kDiscard: return take_target(op, note);
    default: return wrong("record that a client does not send");
  }
}

Status WorkerBulk::take_source(const Source& source) {
  if (sources_.size() >= kPiecesMax) return wrong("sources of more than kPiecesMax");
  sources_.push_back(source);
  return Status::ok();
}

Status WorkerBulk::take_target(BulkOp op, const BulkNote& note) {
  if (aborted_.contains(note.tag)) return Status::ok();  // it does not know yet
  if (note.bytes == 0) return wrong("target without bytes");
  if (op == BulkOp::kSmallTarget && note.bytes > kSmallBytes) return wrong("small target of many bytes");
  if (target_count_ >= kTargetsMax) return wrong("targets of more than kTargetsMax");
  targets_[note.tag].push_back({.memory = {note.address, note.key}, .bytes = note.bytes, .kind = op});
  ++target_count_;
  if (wanted_ == note.tag) wanted_.reset();
  return Status::ok();
}

Result<std::size_t> WorkerBulk::move() {
  Result<std::size_t> in = move_in();
  if (!in) return in;
  Result<std::size_t> out = move_out();
  if (!out) return out;
  return in.value() + out.value();
}

ibv_send_wr WorkerBulk::make_request(ibv_sge& piece, const Lease& lease, const RemoteMemory& memory,
                                     std::uint64_t offset) {
  piece = {.addr = reinterpret_cast<std::uintptr_t>(lease.memory),
           .length = static_cast<std::uint32_t>(lease.bytes),
           .lkey = lease.local_key};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.wr.rdma.remote_addr = memory.address + offset;
  request.wr.rdma.rkey = memory.key;
  return request;
}

// --- From the client --------------------------------------------------------------------------------------

Result<std::size_t> WorkerBulk::move_in() {
  std::size_t moved = 0;
  reads_.end(plane_.consumer().take_payload());
  for (;;) {
    while (reads_.has_ended()) moved += end_read();
    Result<bool> told = tell_source_done();
    if (!told) return told.status();
    if (!told.value()) return moved;
    Result<std::size_t> started = start_read();
    if (!started) return started;
    if (started.value() == 0) return moved;
    moved += started.value();
  }
}

// Sources that are entirely read are reported before anything else. False: no room for that.
Result<bool> WorkerBulk::tell_source_done() {
  while (!sources_.empty() && sources_.front().is_done()) {
    Result<bool> said =
        say(BulkOp::kSourceDone, {.tag = sources_.front().tag, .bytes = sources_.front().bytes});
    if (!said || !said.value()) return said;
    sources_.pop_front();
  }
  return true;
}

// The oldest READ has ended; it belonged to the oldest unfinished source. Returns its bytes.
std::uint64_t WorkerBulk::end_read() {
  const Transfer& read = reads_.oldest();
  const std::uint64_t bytes = read.bytes;
  if (read.target != nullptr) std::memcpy(read.target, read.lease.memory, bytes);
  const auto source =
      std::find_if(sources_.begin(), sources_.end(), [](const Source& each) { return !each.is_done(); });
  if (source != sources_.end()) source->done += bytes;
  queue_.finish_receive(read.tag, bytes);
  reads_.remove();
  return bytes;
}

// 1: something was done, or a READ was started. 0: nothing can be done now.
Result<std::size_t> WorkerBulk::start_read() {
  const auto next =
      std::find_if(sources_.begin(), sources_.end(), [](const Source& each) { return !each.is_started(); });
  if (next == sources_.end()) return std::size_t{0};
  if (next->is_abort) {
    if (!reads_.empty()) return std::size_t{0};  // they may be for the same tag
    TF_RETURN_IF_ERROR(queue_.abort_receive(next->tag, next->reason));
    next->is_abort = false;  // a source of 0 bytes, to be reported as done
    return std::size_t{1};
  }
  if (!reads_.may_add() || !plane_.consumer().may_post_payload()) return std::size_t{0};
  const auto receive = queue_.find_receive(next->tag);
  if (!receive) return std::size_t{0};
  const std::uint64_t bytes = std::min(receive->bytes, next->bytes - next->started);
  if (!receive->is_discard) return read_into(receive->target.first(static_cast<std::size_t>(bytes)), *next);
  begin_read({.tag = next->tag, .bytes = bytes}, *next);
  return std::size_t{1};
}

// `target` is pinned.
Result<std::size_t> WorkerBulk::read_into(std::span<std::byte> target, Source& source) {
  const std::uint64_t place = reinterpret_cast<std::uintptr_t>(target.data());
  if (reads_.overlaps(place, target.size())) {
    queue_.advance_receive(source.tag, 0);
    return std::size_t{0};
  }
  std::optional<Lease> lease = regions_->lease(target, Direction::kIn);
  if (!lease) {
    queue_.advance_receive(source.tag, 0);
    if (!reads_.empty()) return std::size_t{0};  // some will be free again
    return Status{Code::kResourceExhausted, "rdma: memory to receive into cannot be registered"};
  }
  ibv_sge piece{};
  ibv_send_wr request = make_request(piece, *lease, source.memory, source.started);
  request.opcode = IBV_WR_RDMA_READ;
  if (Status refused = plane_.consumer().post_payload(request); !refused.is_ok()) {
    queue_.advance_receive(source.tag, 0);
    return refused;
  }
  Transfer read{.tag = source.tag, .bytes = lease->bytes, .place = place, .posted = true};
  read.target = lease->is_slot() ? target.data() : nullptr;
  read.lease = std::move(*lease);
  begin_read(std::move(read), source);
  return std::size_t{1};
}

void WorkerBulk::begin_read(Transfer read, Source& source) {
  queue_.hand_over_receive(read.tag, read.bytes);
  source.started += read.bytes;
  reads_.add(std::move(read));
}

// --- To the client ----------------------------------------------------------------------------------------

Result<std::size_t> WorkerBulk::move_out() {
  std::size_t moved = 0;
  writes_.end(plane_.producer().take_payload());
  for (;;) {
    while (writes_.has_ended()) {
      const std::uint64_t bytes = writes_.oldest().bytes;
      Result<bool> told = tell_written();
      if (!told) return told.status();
      if (!told.value()) return moved;
      moved += bytes;
    }
    Result<std::size_t> started = start_write();
    if (!started) return started;
    if (started.value() == 0) return moved;
    moved += started.value();
  }
}

// The oldest WRITE has ended, or payload inside a record is next. Reported before the send completes: an end
// that closes then has reported it.
Result<bool> WorkerBulk::tell_written() {
  const Transfer& oldest = writes_.oldest();
  const std::uint64_t tag = oldest.tag;
  const std::uint64_t bytes = oldest.bytes;
  const BulkOp op = oldest.small.empty() ? BulkOp::kTargetDone : BulkOp::kData;
  Result<bool> said = say(op, {.tag = tag, .bytes = bytes}, oldest.small);
  if (!said || !said.value()) return said;
  writes_.remove();
  if (const auto queue = targets_.find(tag); queue != targets_.end()) {
    Target& target = queue->second.front();
    target.done += bytes;
    if (target.done == target.bytes) {
      queue->second.pop_front();
      --target_count_;
      if (queue->second.empty()) targets_.erase(queue);
    }
  }
  queue_.finish_send(bytes);
  return true;
}

// After this nothing is written to the tag's targets.
Result<bool> WorkerBulk::send_abort(const BulkQueue::Outgoing& next) {
  if (!writes_.empty()) return false;
  Result<bool> said = say(BulkOp::kAbort, {.tag = next.tag, .reason = next.reason});
  if (!said || !said.value()) return said;
  if (const auto found = targets_.find(next.tag); found != targets_.end()) {
    target_count_ -= found->second.size();
    targets_.erase(found);
  }
  if (wanted_ == next.tag) wanted_.reset();
  if (aborted_.insert(next.tag).second) aborted_order_.push_back(next.tag);
  if (aborted_order_.size() > kAbortedMax) {
    aborted_.erase(aborted_order_.front());
    aborted_order_.pop_front();
  }
  queue_.sent_abort();
  return true;
}

// 1: something was done, or a WRITE was started. 0: nothing can be done now.
Result<std::size_t> WorkerBulk::start_write() {
  if (!writes_.may_add() || !plane_.producer().may_post_payload()) return std::size_t{0};
  const auto next = queue_.next_send();
  if (!next) return std::size_t{0};
  Result<bool> begun = next->is_abort ? send_abort(*next) : write_next(*next);
  if (!begun || !begun.value()) queue_.advance_send(0);
  if (!begun) return begun.status();
  return std::size_t{begun.value() ? 1u : 0u};
}

// False: later, and so are all that follow.
Result<bool> WorkerBulk::write_next(const BulkQueue::Outgoing& next) {
  const auto queue = targets_.find(next.tag);
  if (queue == targets_.end()) {
    Result<bool> asked = ask_for(next.tag);
    return asked ? Result<bool>(false) : asked;
  }
  const auto target = std::find_if(queue->second.begin(), queue->second.end(),
                                   [](const Target& each) { return each.started != each.bytes; });
  return target != queue->second.end() ? write_to(next, *target) : Result<bool>(false);
}

// Nothing is announced for the tag. When the client's answer comes there is still nothing: everything
// announced before was reported as done.
Result<bool> WorkerBulk::ask_for(std::uint64_t tag) {
  if (wanted_ == tag) return true;
  Result<bool> said = say(BulkOp::kWant, {.tag = tag});
  if (said && said.value()) wanted_ = tag;
  return said;
}

// False: later.
Result<bool> WorkerBulk::write_to(const BulkQueue::Outgoing& next, Target& target) {
  const std::uint64_t bytes = std::min<std::uint64_t>(next.source.size(), target.bytes - target.started);
  Transfer write{.tag = next.tag, .bytes = bytes};
  const std::span<const std::byte> part = next.source.first(static_cast<std::size_t>(bytes));
  const bool is_small = target.kind == BulkOp::kSmallTarget && !regions_->has_device(part);
  if (is_small || target.kind == BulkOp::kDiscard) {
    if (is_small) write.small = part;
    begin_write(std::move(write), target);
    return true;
  }
  write.place = target.memory.address + target.started;
  if (writes_.overlaps(write.place, bytes)) return false;
  // The device only reads it.
  const std::span<std::byte> source(const_cast<std::byte*>(part.data()), part.size());
  std::optional<Lease> lease = regions_->lease(source, Direction::kOut);
  if (!lease) {
    if (!writes_.empty()) return false;  // some will be free again
    return Status{Code::kResourceExhausted, "rdma: memory to be sent cannot be registered"};
  }
  ibv_sge piece{};
  ibv_send_wr request = make_request(piece, *lease, target.memory, target.started);
  request.opcode = IBV_WR_RDMA_WRITE;
  TF_RETURN_IF_ERROR(plane_.producer().post_payload(request));
  write.bytes = lease->bytes;
  write.lease = std::move(*lease);
  write.posted = true;
  begin_write(std::move(write), target);
  return true;
}

void WorkerBulk::begin_write(Transfer write, Target& target) {
  target.started += write.bytes;
  queue_.hand_over_send(write.bytes);
  writes_.add(std::move(write));
}

// --- The end ----------------------------------------------------------------------------------------------

bool WorkerBulk::is_flushed() {
  reads_.end(plane_.consumer().take_payload());
  writes_.end(plane_.producer().take_payload());
  return reads_.all_ended() && writes_.all_ended();
}

void WorkerBulk::release_memory() {
  for (UnderWay* const transfers : {&reads_, &writes_})
    while (!transfers->empty()) transfers->remove();
}

}  // namespace

std::unique_ptr<Bulk> make_worker_bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions) {
  return std::make_unique<WorkerBulk>(plane, owner, std::move(regions));
}

}  // namespace tf::rdma
