// SPDX-License-Identifier: Apache-2.0
#include "rdma/consumer.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace tf::rdma {
namespace {

constexpr std::uint32_t kChainCookie = 1;
constexpr std::uint32_t kPayloadCookie = 2;
constexpr int kRoundsMax = 4;  // a peer that floods us does not keep us in one poll()

Status wrong(const char* what) { return {Code::kProtocol, std::string("rdma: ") + what}; }

}  // namespace

Consumer::Consumer(const Verbs& verbs, const Queues& queues, const ConsumerMemory& memory)
    : verbs_(verbs), queues_(queues), memory_(memory) {}

// --- Completions ------------------------------------------------------------------------------------------

Status Consumer::poll() {
  static_cast<void>(has_news());
  return take_news();
}

Status Consumer::take_news() {
  for (int rounds = 1;; ++rounds) {
    if (came_ < 0 && failure_.is_ok()) failure_ = {Code::kInternal, "rdma: a completion queue failed"};
    // Also behind a failure: the peer's last push may be among them.
    for (int index = 0; index < came_; ++index) {
      Status status = take_completion(completions_[static_cast<std::size_t>(index)]);
      if (failure_.is_ok() && !status.is_ok()) failure_ = std::move(status);
    }
    if (std::exchange(came_, 0) < kCompletionsAtOnce || rounds == kRoundsMax) break;
    came_ = verbs_.poll_cq(queues_.completions, kCompletionsAtOnce, completions_.data());
  }
  return advance();
}

Status Consumer::take_completion(const ibv_wc& completion) {
  const bool is_receive = (completion.wr_id & kReceiveMark) != 0;
  std::uint32_t cookie = 0;
  if (!is_receive) {
    queues_.pair->note_done(completion.wr_id);
    cookie = queues_.pair->cookie(completion.wr_id);
    if (cookie == kPayloadCookie) ++payload_done_;  // failed or not: its memory is free
  }
  if (completion.status != IBV_WC_SUCCESS)
    return work_failed(verbs_, is_receive ? "receiving records" : "fetching from the peer",
                       completion.status);
  if (is_receive) return take_immediate(ntohl(completion.imm_data));
  return cookie == kChainCookie ? take_chain() : Status::ok();
}

Status Consumer::take_immediate(std::uint32_t immediate) {
  if (failure_.is_ok() && ++spent_receives_ == kReceivesAtOnce)
    TF_RETURN_IF_ERROR(queues_.pair->post_receives(std::exchange(spent_receives_, 0)));
  // Each in turn: an immediate tells at most kConsumedMask lines more than the one before it.
  opposite_lines_ += (immediate - static_cast<std::uint32_t>(opposite_lines_)) & kConsumedMask;
  has_told_ = true;
  const auto known_lines = static_cast<std::uint32_t>(known_ / kLineBytes);
  const std::uint32_t ahead = ((immediate >> 16) - known_lines) & kEndMask;
  const std::uint64_t end = known_ + std::uint64_t{ahead} * kLineBytes;
  if (ahead <= capacity() / kLineBytes) {
    if (!fits(end)) return wrong("an immediate tells of more than the ring holds");
    pushed_end_ = std::max(pushed_end_, end);
    TF_RETURN_IF_ERROR(count_push(end));
  } else {  // fetched before its immediate came
    const std::uint64_t behind = std::uint64_t{kEndMask + 1 - ahead} * kLineBytes;
    TF_RETURN_IF_ERROR(count_push(known_ - std::min(known_, behind)));
  }
  const bool hold = (immediate & kHoldBit) != 0;
  if (hold) {
    if (is_fetching()) return wrong("a producer that holds says so again");
    ++seen_;
  }
  if (settling_) return Status::ok();  // settle() does the rest
  // Without the bit from a producer that holds: it is closing and has pushed everything.
  known_ = std::max(known_, pushed_end_);
  if (hold) look_again_ = true;
  return Status::ok();
}

Status Consumer::count_push(std::uint64_t end) {
  const std::uint64_t told = progress_.told.load(std::memory_order_relaxed);
  while (batch_count_ > 0 && batches_[first_batch_] <= told) {
    first_batch_ = (first_batch_ + 1) % kConsumerReceives;
    --batch_count_;
  }
  if (end <= told) return Status::ok();
  if (batch_count_ == batches_.size()) return wrong("more pushes than the protocol has");
  batches_[(first_batch_ + batch_count_++) % batches_.size()] = end;
  return Status::ok();
}

Status Consumer::take_chain() {
  reading_ = false;
  known_ = std::max(known_, chain_end_);
  if (chain_has_line_) return take_line();
  settle();
  return Status::ok();
}

Status Consumer::take_line() {
  Line line;
  std::memcpy(&line, memory_.fetched_line, sizeof line);
  if (line.published % kLineBytes != 0 || (line.published > known_ && !fits(line.published)))
    return wrong("the producer says that it published what cannot be");
  if (line.waiting != 0 && line.waiting != kicked_) {
    waiting_ = line.waiting;
    if (told_since_kick_) add_kick();
  } else {
    waiting_ = 0;
  }
  if (line.published > known_) return post_chain(line.published, !settling_);
  if (settling_) settle();
  return Status::ok();
}

void Consumer::settle() {
  settling_ = false;
  known_ = std::max(known_, pushed_end_);
  look_again_ = is_fetching();
}

// --- Records ----------------------------------------------------------------------------------------------

Result<const Record*> Consumer::peek(std::uint64_t payload_max) {
  for (;;) {
    const std::uint64_t at = own_consumed();
    const std::uint64_t available = known_ - at;
    if (available == 0) return static_cast<const Record*>(nullptr);
    const std::size_t to_end = capacity() - offset(at);
    const std::byte* const record = memory_.ring.data() + offset(at);
    FrameHeader& header = record_.header;
    std::memcpy(&header, record, sizeof header);
    if (header.magic == kPadMagic) {
      if (to_end == capacity() || to_end > available) return wrong("a pad where none can be");
      progress_.consumed.store(at + to_end, std::memory_order_release);
      continue;
    }
    TF_RETURN_IF_ERROR(validate(header, payload_max));
    const std::uint64_t bytes = round_to_lines(kFrameHeaderBytes + header.payload_length);
    if (bytes > available || bytes > to_end) return wrong("a record that goes beyond what was published");
    next_ = at + bytes;
    record_.payload = {record + kFrameHeaderBytes, header.payload_length};
    return static_cast<const Record*>(&record_);
  }
}

bool Consumer::finish(std::uint64_t position) {
  if (pushed_end_ >= position) known_ = std::max(known_, pushed_end_);
  return known_ >= position;
}

// --- Telling and fetching ---------------------------------------------------------------------------------

bool Consumer::should_tell() {
  const std::uint64_t consumed = own_consumed();
  const std::uint64_t told = progress_.told.load(std::memory_order_relaxed);
  if (consumed <= told) return false;
  if (consumed - told >= capacity() / 4) return true;
  unsigned handled = 0;
  for (unsigned index = 0; index < batch_count_; ++index) {
    const std::uint64_t end = batches_[(first_batch_ + index) % batches_.size()];
    if (end > told && end <= consumed) ++handled;
  }
  return handled >= kTellBatches;
}

Status Consumer::advance() {
  settled_ = false;
  if (!failure_.is_ok()) return failure_;
  if (queues_.pair->room() < kRoomMin) return Status::ok();  // a completion is on its way
  const bool fetching = is_fetching();
  const bool idle = fetching && !reading_;
  const bool grant = idle && !look_again_ && !has_record();
  if (grant) {
    ++granted_;
    settling_ = true;
  }
  if (grant || should_tell()) {
    add_credit();
    look_again_ = look_again_ || (fetching && !grant);
  }
  if (grant || (idle && look_again_)) return post_chain(known_, true);
  settled_ = request_count_ == 0;
  return settled_ ? Status::ok() : post_chain(known_, false);
}

// A waiting producer that is told of room is also woken.
void Consumer::add_credit() {
  const std::uint64_t consumed = own_consumed();
  const std::uint64_t credit = std::uint64_t{granted_} << kGrantShift | (consumed / kLineBytes & kCreditMask);
  progress_.told.store(consumed, std::memory_order_relaxed);
  // A word for each request that may be under way: where the device takes no inline bytes it reads them
  // later.
  const std::uint64_t number = queues_.pair->posted() + request_count_;
  std::byte* const source = memory_.credit_sources + number % kSendDepth * sizeof credit;
  word_at(source).store(credit, std::memory_order_release);
  pieces_[request_count_] = {
      .addr = reinterpret_cast<std::uintptr_t>(source), .length = sizeof credit, .lkey = memory_.scratch_key};
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.sg_list = &pieces_[request_count_];
  request.num_sge = 1;
  request.send_flags = queues_.pair->inline_bytes() >= sizeof credit ? IBV_SEND_INLINE : 0;
  request.wr.rdma.remote_addr = memory_.credit.address;
  request.wr.rdma.rkey = memory_.credit.key;
  requests_[request_count_++] = request;
  told_since_kick_ = true;
  if (waiting_ != 0) add_kick();
}

void Consumer::add_kick() {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.wr.rdma.remote_addr = memory_.credit.address;
  request.wr.rdma.rkey = memory_.credit.key;
  requests_[request_count_++] = request;
  kicked_ = std::exchange(waiting_, 0);
  told_since_kick_ = false;
}

void Consumer::add_read(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const std::uint64_t bytes = std::min<std::uint64_t>(end - begin, capacity() - offset(begin));
    pieces_[request_count_] = {.addr = reinterpret_cast<std::uintptr_t>(memory_.ring.data() + offset(begin)),
                               .length = static_cast<std::uint32_t>(bytes),
                               .lkey = memory_.ring_key};
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_READ;
    request.sg_list = &pieces_[request_count_];
    request.num_sge = 1;
    request.wr.rdma.remote_addr = memory_.mirror.address + offset(begin);
    request.wr.rdma.rkey = memory_.mirror.key;
    requests_[request_count_++] = request;
    begin += bytes;
  }
}

// Posts what was added; then READs up to `end`; then of the line, if wanted. READs are a chain: one
// completion.
Status Consumer::post_chain(std::uint64_t end, bool with_line) {
  const bool reads = end > known_ || with_line;
  add_read(known_, end);
  if (with_line) {
    look_again_ = false;
    pieces_[request_count_] = {.addr = reinterpret_cast<std::uintptr_t>(memory_.fetched_line),
                               .length = sizeof(Line),
                               .lkey = memory_.scratch_key};
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_READ;
    request.sg_list = &pieces_[request_count_];
    request.num_sge = 1;
    request.wr.rdma.remote_addr = memory_.line.address;
    request.wr.rdma.rkey = memory_.line.key;
    requests_[request_count_++] = request;
  }
  if (reads) {
    reading_ = true;
    chain_has_line_ = with_line;
    chain_end_ = end;
  }
  const unsigned count = std::exchange(request_count_, 0u);
  return keep(queues_.pair->post(std::span(requests_).first(count), reads, kChainCookie));
}

Status Consumer::post_payload(ibv_send_wr request) {
  return keep(queues_.pair->post(std::span(&request, 1), true, kPayloadCookie));
}

// What could not be posted is missing for good.
Status Consumer::keep(Status posted) {
  if (failure_.is_ok()) failure_ = posted;
  return posted;
}

}  // namespace tf::rdma
