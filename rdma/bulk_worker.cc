// SPDX-License-Identifier: Apache-2.0
// The moving end: one transfer in each direction is under way at a time, whole or a large piece of it.
#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "rdma/bulk.h"

namespace tf::rdma {
namespace {

// Targets: kPiecesMax and those that were wanted.
constexpr std::size_t kTargetsMax = 4 * kPiecesMax;
constexpr std::size_t kAbortedMax = 4096;  // tags whose late targets are dropped

Status wrong(const char* what) { return {Code::kProtocol, std::string("rdma: bulk ") + what}; }

struct Source {
  std::uint64_t tag = 0;
  RemoteMemory memory = {};
  std::uint64_t bytes = 0;
  std::uint64_t done = 0;
  bool is_abort = false;
  std::uint32_t reason = 0;
};

struct Target {
  RemoteMemory memory;
  std::uint64_t bytes = 0;
  std::uint64_t done = 0;
  bool is_discard = false;
};

// A READ or a WRITE.
struct Transfer {
  bool posted = false;    // the device has it
  bool finished = false;  // it is to be told
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  Lease lease;
  std::byte* target = nullptr;  // of a READ through a slot
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
  Status take(BulkOp op, const BulkNote& note) override;
  Result<std::size_t> move() override;
  bool is_flushed() override;
  void release_memory() override;
  void unpin() override;

  Status take_source(const Source& source);
  Status take_target(BulkOp op, const BulkNote& note);
  Result<std::size_t> move_in();
  Result<bool> tell_source_done();
  void end_read();
  Result<std::size_t> start_read();
  Result<std::size_t> move_out();
  Result<bool> tell_written();
  Result<bool> send_abort(const BulkQueue::Outgoing& next);
  Result<std::size_t> start_write();
  Result<std::size_t> write_to(const BulkQueue::Outgoing& next, Target& target);
  Target* find_target(std::uint64_t tag);
  static ibv_send_wr make_request(ibv_sge& piece, const Lease& lease, const RemoteMemory& memory,
                                  std::uint64_t offset);

  std::deque<Source> sources_;
  std::unordered_map<std::uint64_t, std::deque<Target>> targets_;  // no empty queues
  std::size_t target_count_ = 0;
  std::unordered_set<std::uint64_t> aborted_;
  std::deque<std::uint64_t> aborted_order_;
  std::optional<std::uint64_t> wanted_;  // the tag last asked for
  Transfer read_;
  Transfer write_;
};

// --- What the peer tells ----------------------------------------------------------------------------------

Status WorkerBulk::take(BulkOp op, const BulkNote& note) {
  switch (op) {
    case BulkOp::kSource:
      if (note.bytes == 0) return wrong("source without bytes");
      return take_source({.tag = note.tag, .memory = {note.address, note.key}, .bytes = note.bytes});
    case BulkOp::kAbort: return take_source({.tag = note.tag, .is_abort = true, .reason = note.reason});
    case BulkOp::kTarget:
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
  if (aborted_.contains(note.tag)) return Status::ok();  // it has not heard of that yet
  if (note.bytes == 0) return wrong("target without bytes");
  if (target_count_ >= kTargetsMax) return wrong("targets of more than kPiecesMax");
  targets_[note.tag].push_back(
      {.memory = {note.address, note.key}, .bytes = note.bytes, .is_discard = op == BulkOp::kDiscard});
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
  for (;;) {
    if (plane_.consumer().take_payload() != 0 && read_.posted) {
      moved += read_.bytes;
      end_read();
    }
    if (read_.posted) return moved;
    Result<bool> told = tell_source_done();
    if (!told) return told.status();
    if (!told.value()) return moved;
    Result<std::size_t> started = start_read();
    if (!started) return started;
    moved += started.value();
    if (started.value() == 0 || read_.posted) return moved;
  }
}

// What is wholly read is told before anything else. False: no room to tell it.
Result<bool> WorkerBulk::tell_source_done() {
  while (!sources_.empty() && !sources_.front().is_abort && sources_.front().done == sources_.front().bytes) {
    Result<bool> said =
        say(BulkOp::kSourceDone, {.tag = sources_.front().tag, .bytes = sources_.front().bytes});
    if (!said || !said.value()) return said;
    sources_.pop_front();
  }
  return true;
}

void WorkerBulk::end_read() {
  if (read_.target != nullptr) std::memcpy(read_.target, read_.lease.memory, read_.bytes);
  read_.lease.release();
  sources_.front().done += read_.bytes;
  read_.posted = false;
  queue_.advance_receive(read_.tag, read_.bytes);
}

// Bytes (of aborts: one) that moved without a READ, or the READ is posted. 0 and no READ: nothing can be
// done.
Result<std::size_t> WorkerBulk::start_read() {
  if (sources_.empty()) return std::size_t{0};
  Source& source = sources_.front();
  if (source.is_abort) {
    TF_RETURN_IF_ERROR(queue_.abort_receive(source.tag, source.reason));
    source.is_abort = false;  // a source of no bytes, to be told as done
    return std::size_t{1};
  }
  if (!plane_.consumer().may_post_payload()) return std::size_t{0};
  const auto receive = queue_.find_receive(source.tag);
  if (!receive) return std::size_t{0};
  const std::uint64_t bytes = std::min(receive->bytes, source.bytes - source.done);
  if (receive->is_discard) {
    source.done += bytes;
    queue_.advance_receive(source.tag, bytes);
    return static_cast<std::size_t>(bytes);
  }
  const std::span<std::byte> target = receive->target.first(static_cast<std::size_t>(bytes));
  std::optional<Lease> lease = regions_->lease(target, Direction::kIn);
  if (!lease) {
    queue_.advance_receive(source.tag, 0);
    return Status{Code::kResourceExhausted, "rdma: memory to receive into cannot be registered"};
  }
  read_ = {.posted = true,
           .tag = source.tag,
           .bytes = lease->bytes,
           .lease = std::move(*lease),
           .target = nullptr};
  if (read_.lease.is_slot()) read_.target = target.data();
  ibv_sge piece{};
  ibv_send_wr request = make_request(piece, read_.lease, source.memory, source.done);
  request.opcode = IBV_WR_RDMA_READ;
  if (Status refused = plane_.consumer().post_payload(request); !refused.is_ok()) {
    read_.posted = false;
    return refused;
  }
  return std::size_t{1};
}

// --- To the client ----------------------------------------------------------------------------------------

Result<std::size_t> WorkerBulk::move_out() {
  std::size_t moved = 0;
  for (;;) {
    if (plane_.producer().take_payload() != 0 && write_.posted) {
      write_.posted = false;
      write_.finished = true;
      write_.lease.release();
    }
    if (write_.posted) return moved;
    if (write_.finished) {
      Result<bool> told = tell_written();
      if (!told) return told.status();
      if (!told.value()) return moved;
      moved += write_.bytes;
    }
    Result<std::size_t> started = start_write();
    if (!started) return started;
    moved += started.value();
    if (started.value() == 0 || write_.posted) return moved;
  }
}

// Before the send is complete: whoever closes then has told.
Result<bool> WorkerBulk::tell_written() {
  Result<bool> said = say(BulkOp::kTargetDone, {.tag = write_.tag, .bytes = write_.bytes});
  if (!said || !said.value()) return said;
  write_.finished = false;
  if (Target* const target = find_target(write_.tag); target != nullptr) {
    target->done += write_.bytes;
    if (target->done == target->bytes) {
      const auto queue = targets_.find(write_.tag);
      queue->second.pop_front();
      --target_count_;
      if (queue->second.empty()) targets_.erase(queue);
    }
  }
  queue_.advance_send(write_.bytes);
  return true;
}

Target* WorkerBulk::find_target(std::uint64_t tag) {
  const auto found = targets_.find(tag);
  return found == targets_.end() ? nullptr : &found->second.front();
}

Result<bool> WorkerBulk::send_abort(const BulkQueue::Outgoing& next) {
  Result<bool> said = say(BulkOp::kAbort, {.tag = next.tag, .reason = next.reason});
  if (!said || !said.value()) {
    queue_.advance_send(0);
    return said;
  }
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

Result<std::size_t> WorkerBulk::start_write() {
  const auto next = queue_.next_send();
  if (!next) return std::size_t{0};
  if (next->is_abort) {
    Result<bool> sent = send_abort(*next);
    if (!sent) return sent.status();
    return std::size_t{sent.value() ? 1u : 0u};
  }
  Target* const target = find_target(next->tag);
  if (target != nullptr && plane_.producer().may_post_payload()) return write_to(*next, *target);
  Result<bool> said = true;
  if (target == nullptr && wanted_ != next->tag) {
    said = say(BulkOp::kWant, {.tag = next->tag});
    if (said && said.value()) wanted_ = next->tag;
  }
  queue_.advance_send(0);
  if (!said) return said.status();
  return std::size_t{0};
}

Result<std::size_t> WorkerBulk::write_to(const BulkQueue::Outgoing& next, Target& target) {
  const std::uint64_t bytes = std::min<std::uint64_t>(next.source.size(), target.bytes - target.done);
  write_ = {.posted = false, .finished = true, .tag = next.tag, .bytes = bytes, .lease = {}};
  if (target.is_discard) return static_cast<std::size_t>(bytes);
  // The device only reads it.
  const std::span<std::byte> source(const_cast<std::byte*>(next.source.data()),
                                    static_cast<std::size_t>(bytes));
  std::optional<Lease> lease = regions_->lease(source, Direction::kOut);
  if (!lease) {
    write_.finished = false;
    queue_.advance_send(0);
    return Status{Code::kResourceExhausted, "rdma: memory to be sent cannot be registered"};
  }
  write_.posted = true;
  write_.finished = false;
  write_.bytes = lease->bytes;
  write_.lease = std::move(*lease);
  ibv_sge piece{};
  ibv_send_wr request = make_request(piece, write_.lease, target.memory, target.done);
  request.opcode = IBV_WR_RDMA_WRITE;
  if (Status refused = plane_.producer().post_payload(request); !refused.is_ok()) {
    write_.posted = false;
    return refused;
  }
  return std::size_t{1};
}

// --- The end ----------------------------------------------------------------------------------------------

bool WorkerBulk::is_flushed() {
  if (plane_.consumer().take_payload() != 0) read_.posted = false;
  if (plane_.producer().take_payload() != 0) write_.posted = false;
  return !read_.posted && !write_.posted;
}

void WorkerBulk::release_memory() {
  for (Transfer* const transfer : {&read_, &write_}) transfer->lease.release();
}

void WorkerBulk::unpin() {
  queue_.advance_receive(read_.tag, 0);
  queue_.advance_send(0);
}

}  // namespace

std::unique_ptr<Bulk> make_worker_bulk(Plane& plane, BulkOwner& owner, std::unique_ptr<Regions> regions) {
  return std::make_unique<WorkerBulk>(plane, owner, std::move(regions));
}

}  // namespace tf::rdma
