// SPDX-License-Identifier: Apache-2.0
// The sending half of a stream: pushes, holds, room, completions.
#include "rdma/producer.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "rdma/stamp.h"
#include "transport/base/fence.h"
#include "transport/base/mutex.h"

namespace tf::rdma {
namespace {

constexpr std::uint32_t kPayloadCookie = 1;
constexpr int kCompletionsAtOnce = 16;

Status wrong(const char* what) { return {Code::kProtocol, std::string("rdma: ") + what}; }

std::uint64_t consumed_of(std::uint64_t credit) { return (credit & kCreditMask) * kLineBytes; }

}  // namespace

Producer::Producer(const Verbs& verbs, const Queues& queues, const ProducerMemory& memory, Progress& opposite)
    : verbs_(verbs), queues_(queues), memory_(memory), opposite_(opposite) {}

// --- Reserving --------------------------------------------------------------------------------------------

std::span<std::byte> Producer::reserve(std::size_t bytes) {
  return refused() ? std::span<std::byte>() : place(bytes);
}

std::span<std::byte> Producer::place(std::size_t bytes) {
  const std::uint64_t begin = position_.load(std::memory_order_relaxed);
  const std::size_t to_end = capacity() - offset(begin);
  const std::uint64_t span = record_span(bytes);
  const std::uint64_t start = span > to_end ? begin + to_end : begin;
  if (start + span - limit_ > capacity() || queues_.pair->room() < kRoomMin) return {};
  slot_begin_ = begin;
  slot_start_ = start;
  slot_bytes_ = bytes;
  return memory_.mirror.subspan(offset(start), bytes);
}

std::uint64_t Producer::peer_consumed() const {
  // Acquire, both: we may overwrite what the peer has consumed.
  return std::max(told_.load(std::memory_order_acquire),
                  consumed_of(word_at(memory_.credit).load(std::memory_order_acquire)));
}

// Changes whenever the peer has reported anything.
std::uint64_t Producer::signs() const {
  return told_.load(std::memory_order_acquire) + word_at(memory_.credit).load(std::memory_order_acquire);
}

bool Producer::is_granted() const {
  return word_at(memory_.credit).load(std::memory_order_acquire) >> kGrantShift == epoch_;
}

// No request that may still read the mirror covers the part before this.
std::uint64_t Producer::reusable_to() const {
  const QueuePair& pair = *queues_.pair;
  return pair.done() == pair.posted() ? position_.load(std::memory_order_relaxed)
                                      : begins_[(pair.done() + 1) % kSendDepth];
}

// Takes in what the peer has consumed since the last look.
Status Producer::refresh() {
  const std::uint64_t consumed = peer_consumed();
  if (consumed > position_.load(std::memory_order_relaxed))
    return wrong("the peer has consumed what was never published");
  while (batch_count_ > 0 && batches_[first_batch_] <= consumed) {
    first_batch_ = (first_batch_ + 1) % kBatchesMax;
    --batch_count_;
  }
  limit_ = std::max(limit_, std::min(consumed, reusable_to()));
  return Status::ok();
}

Result<std::span<std::byte>> Producer::reserve_slowly(std::size_t bytes) {
  TF_RETURN_IF_ERROR(reap());
  TF_RETURN_IF_ERROR(refresh());
  std::span<std::byte> slot = place(bytes);
  if (slot.empty()) {
    // Granted with a full ring: a consumer that gets pushes does not read our questions. The push also brings
    // the completion of all requests before it, which may be all that is missing.
    if (holding_ && is_granted()) holding_ = false;
    if (!holding_ && queues_.pair->room() >= kRoomMin) TF_RETURN_IF_ERROR(push({}, true, true));
    const bool short_of_sends = queues_.pair->room() < kRoomMin || limit_ < peer_consumed();
    short_of_sends_.store(short_of_sends, std::memory_order_relaxed);
    if (short_of_sends) return slot;
    TF_RETURN_IF_ERROR(take_kicks());  // so that this is a new question
    ask();
    TF_RETURN_IF_ERROR(refresh());
    slot = place(bytes);
  }
  if (!slot.empty()) stop_asking();
  return slot;
}

// The peer's consumer finds the number when it reads the Line after it wrote the credit. If that was earlier,
// a look at the credit after this sees the write. The fence makes it one or the other.
void Producer::ask() {
  refused_at_.store(signs(), std::memory_order_relaxed);  // before the question: anything later is news
  {
    const MutexLock lock(ask_mutex_);
    if (asked_ == kicked_) ++asked_;
    word_at(memory_.line + offsetof(Line, waiting)).store(asked_, std::memory_order_release);
  }
  full_fence();
}

void Producer::stop_asking() {
  short_of_sends_.store(false, std::memory_order_relaxed);
  if (!refused()) return;
  refused_at_.store(kNotRefused, std::memory_order_relaxed);
  const MutexLock lock(ask_mutex_);
  word_at(memory_.line + offsetof(Line, waiting)).store(0, std::memory_order_release);
}

// --- Publishing -------------------------------------------------------------------------------------------

Status Producer::publish() {
  if (slot_start_ != slot_begin_) {
    const FrameHeader pad{.magic = kPadMagic};
    std::memcpy(memory_.mirror.data() + offset(slot_begin_), &pad, sizeof pad);
  }
  const bool stamped = !holding_ && slot_start_ == slot_begin_ && slot_bytes_ <= kStampedMax && is_watched();
  if (stamped) stamp();
  const std::uint64_t end = slot_start_ + record_span(slot_bytes_);
  position_.store(end, std::memory_order_release);  // pairs with position()
  // Release: a reader of this sees the record.
  word_at(memory_.line).store(end, std::memory_order_release);
  if (!holding_) return push_slot(stamped);
  full_fence();  // between published and the look at the credit, see stream.h
  if (!is_granted()) return Status::ok();
  holding_ = false;
  return push_slot(false);
}

Status Producer::push_slot(bool stamped) {
  if (queues_.pair->room() < kReapAt) TF_RETURN_IF_ERROR(reap());
  if (batch_count_ >= kRefreshAt) TF_RETURN_IF_ERROR(refresh());
  const bool hold = batch_count_ + 1 >= kPushedMax || queues_.pair->room() < 2 * kRoomMin;
  if (stamped && !hold) {
    full_fence();  // between published and the decisive look at the watch, see stream.h
    if (is_watched()) return push_quietly();
  }
  const Range record{slot_start_, slot_bytes_};
  if (slot_start_ == slot_begin_) return push(std::span(&record, 1), hold, hold);
  const std::array<Range, 2> both = {Range{slot_begin_, kFrameHeaderBytes}, record};
  return push(both, hold, hold);
}

// Call it before the record is published: afterwards its line may be READ.
void Producer::stamp() {
  std::byte* const record = memory_.mirror.data() + offset(slot_start_);
  // Acquire: as in push().
  stamped_told_ = opposite_.consumed.load(std::memory_order_acquire);
  const Stamp stamp =
      make_stamp(memory_.ring_secret, slot_start_, static_cast<std::uint32_t>(stamped_told_ / kLineBytes),
                 {record, slot_bytes_});
  std::memcpy(record + record_span(slot_bytes_) - sizeof stamp, &stamp, sizeof stamp);
}

Status Producer::push_quietly() {
  note_told_by_push(stamped_told_);
  aim(quiet_, {slot_start_, record_span(slot_bytes_)});
  note_push(1, slot_start_);
  Status posted = queues_.pair->post(quiet_);
  return posted.is_ok() ? posted : keep(std::move(posted));
}

// Tells the peer that everything published is in its ring; no range runs over the ring's end.
Status Producer::push(std::span<const Range> ranges, bool hold, bool signal) {
  const std::uint64_t end = position_.load(std::memory_order_relaxed);
  for (const Range& range : ranges) add_write(range);
  if (ranges.empty()) add_request(end).num_sge = 0;
  ibv_send_wr& last = requests_[request_count_ - 1];
  last.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  // Acquire: our consumer is done with what we report, and the peer may overwrite it.
  const std::uint64_t consumed = opposite_.consumed.load(std::memory_order_acquire);
  // The peer adds up the differences, so no immediate may report more at once than its bits can hold. Stamps,
  // and the credit, which travels another way, may reach the peer long before this.
  told_in_immediates_ = std::min(consumed, told_in_immediates_ + std::uint64_t{kConsumedMask} * kLineBytes);
  // Stamps covered by an immediate are not read: what the immediate cannot report was not reported after all.
  if (told_in_immediates_ == consumed)
    note_told_by_push(consumed);
  else
    opposite_.told.store(told_in_immediates_, std::memory_order_relaxed);
  last.imm_data = htonl(make_immediate(hold, end, told_in_immediates_));
  if (hold) {
    holding_ = true;
    ++epoch_;
  }
  return post(signal);
}

// A WRITE to that place in the ring, without data yet.
ibv_send_wr& Producer::add_request(std::uint64_t position) {
  first_needed_ = request_count_ == 0 ? position : std::min(first_needed_, position);
  ibv_send_wr& request = requests_[request_count_];
  request.opcode = IBV_WR_RDMA_WRITE;
  request.sg_list = &pieces_[request_count_++];
  request.num_sge = 1;
  request.send_flags = 0;
  request.wr.rdma.remote_addr = memory_.ring.address + offset(position);
  request.wr.rdma.rkey = memory_.ring.key;
  return request;
}

void Producer::add_write(const Range& range) {
  ibv_send_wr& request = add_request(range.begin);
  request.sg_list->lkey = memory_.mirror_key;
  aim(request, range);
}

// Writes from the mirror to the same place in the ring.
void Producer::aim(ibv_send_wr& request, const Range& range) const {
  request.sg_list->addr = reinterpret_cast<std::uintptr_t>(memory_.mirror.data() + offset(range.begin));
  request.sg_list->length = static_cast<std::uint32_t>(range.bytes);
  request.send_flags = range.bytes <= queues_.pair->inline_bytes() ? IBV_SEND_INLINE : 0;
  request.wr.rdma.remote_addr = memory_.ring.address + offset(range.begin);
}

void Producer::note_told_by_push(std::uint64_t consumed) {
  if (consumed > opposite_.told.load(std::memory_order_relaxed))
    opposite_.told.store(consumed, std::memory_order_relaxed);
}

Status Producer::post(bool signal) {
  const unsigned count = std::exchange(request_count_, 0u);
  note_push(count, first_needed_);
  return keep(queues_.pair->post(std::span(requests_).first(count), signal));
}

// Notes one more push not yet known to be consumed: the next `requests`, which need the mirror from `needed`
// on.
void Producer::note_push(unsigned requests, std::uint64_t needed) {
  for (unsigned index = 1; index <= requests; ++index)
    begins_[(queues_.pair->posted() + index) % kSendDepth] = needed;
  batches_[(first_batch_ + batch_count_) % kBatchesMax] = position_.load(std::memory_order_relaxed);
  ++batch_count_;
}

// A request that could not be posted is lost for good.
Status Producer::keep(Status posted) {
  if (failure_.is_ok()) failure_ = posted;
  return posted;
}

// The peer may have fetched some of this during a hold: it gets the same bytes again.
Status Producer::finish(Deadline deadline) {
  while (queues_.pair->room() < kRoomMin) {
    if (deadline.passed()) return {Code::kTimeout, "rdma: the peer's device accepted nothing in time"};
    TF_RETURN_IF_ERROR(reap());
    std::this_thread::yield();
  }
  TF_RETURN_IF_ERROR(refresh());
  std::array<Range, 2> ranges;
  std::size_t count = 0;
  const std::uint64_t end = position_.load(std::memory_order_relaxed);
  for (std::uint64_t at = holding_ ? peer_consumed() : end; at < end && count < ranges.size(); ++count) {
    const std::uint64_t bytes = std::min<std::uint64_t>(end - at, capacity() - offset(at));
    ranges[count] = {at, bytes};
    at += bytes;
  }
  TF_RETURN_IF_ERROR(push(std::span(ranges).first(count), false, true));
  while (queues_.pair->done() != queues_.pair->posted()) {
    if (deadline.passed()) return {Code::kTimeout, "rdma: the peer's device did not answer in time"};
    TF_RETURN_IF_ERROR(reap());
    std::this_thread::yield();
  }
  return Status::ok();
}

// --- Completions ------------------------------------------------------------------------------------------

Status Producer::take_completion(const ibv_wc& completion) {
  queues_.pair->note_done(completion.wr_id);
  if (queues_.pair->cookie(completion.wr_id) == kPayloadCookie) ++payload_done_;
  if (completion.status == IBV_WC_SUCCESS) return Status::ok();
  return work_failed(verbs_, "writing to the peer", completion.status);
}

Status Producer::reap() {
  std::array<ibv_wc, kCompletionsAtOnce> completions;
  for (;;) {
    const int count = verbs_.poll_cq(queues_.sends, kCompletionsAtOnce, completions.data());
    if (count < 0 && failure_.is_ok()) failure_ = {Code::kInternal, "rdma: a completion queue failed"};
    for (int index = 0; index < count; ++index) {
      Status status = take_completion(completions[static_cast<std::size_t>(index)]);
      if (failure_.is_ok() && !status.is_ok()) failure_ = std::move(status);
    }
    if (count < kCompletionsAtOnce) return failure_;
  }
}

Status Producer::post_payload(ibv_send_wr request) {
  begins_[(queues_.pair->posted() + 1) % kSendDepth] = position_.load(std::memory_order_relaxed);
  return keep(queues_.pair->post(std::span(&request, 1), true, kPayloadCookie));
}

// --- Any thread -------------------------------------------------------------------------------------------

Status Producer::told_too_much() { return wrong("the peer reports more than was published"); }

std::uint64_t Producer::refusal_to_tell() const {
  const std::uint64_t refused_at = refused_at_.load(std::memory_order_relaxed);
  return refused_at != kNotRefused && signs() != refused_at ? refused_at : kNotRefused;
}

// The queue pair has failed. The reason is among the send completions, which nobody else may read before the
// producer publishes again. Their bookkeeping no longer matters, except for payload, where somebody waits
// until the device has let go: only the bulk plane has any, and it looks for failures with its mutex held.
Status Producer::find_cause(const char* what, ibv_wc_status otherwise) {
  std::array<ibv_wc, kCompletionsAtOnce> completions;
  const int count = verbs_.poll_cq(queues_.sends, kCompletionsAtOnce, completions.data());
  ibv_wc_status cause = IBV_WC_SUCCESS;
  for (int index = 0; index < count; ++index) {
    const ibv_wc& send = completions[static_cast<std::size_t>(index)];
    if (queues_.pair->cookie(send.wr_id) == kPayloadCookie) ++payload_done_;
    const bool first = cause == IBV_WC_SUCCESS || cause == IBV_WC_WR_FLUSH_ERR;
    if (first && send.status != IBV_WC_SUCCESS) cause = send.status;
  }
  if (cause != IBV_WC_SUCCESS && cause != IBV_WC_WR_FLUSH_ERR)
    return work_failed(verbs_, "writing to the peer", cause);
  return work_failed(verbs_, what, otherwise);
}

Status Producer::find_failure() {
  if (!queues_.pair->has_failed()) return Status::ok();
  const MutexLock lock(ask_mutex_);
  return find_cause("writing to the peer", IBV_WC_WR_FLUSH_ERR);
}

// A kick that brought no room answered an earlier question: asks again, since reserve_slowly() may not be
// called before there is room.
Status Producer::take_kicks() {
  const MutexLock lock(ask_mutex_);
  std::array<ibv_wc, kKickReceives> completions;
  const int count = verbs_.poll_cq(queues_.kicks, kKickReceives, completions.data());
  if (count < 0) return {Code::kInternal, "rdma: a completion queue failed"};
  if (count == 0) return Status::ok();
  for (int index = 0; index < count; ++index) {
    const ibv_wc& completion = completions[static_cast<std::size_t>(index)];
    if (completion.status != IBV_WC_SUCCESS)
      return find_cause("the queue pair of what is sent", completion.status);
    TF_RETURN_IF_ERROR(queues_.pair->post_receives(1));
    ++kicked_;
  }
  if (kicked_ > asked_) return wrong("a kick that nobody asked for");
  const auto waiting = word_at(memory_.line + offsetof(Line, waiting));
  if (asked_ == kicked_ && waiting.load(std::memory_order_relaxed) != 0) {
    waiting.store(++asked_, std::memory_order_release);
    full_fence();
  }
  return Status::ok();
}

}  // namespace tf::rdma
