// SPDX-License-Identifier: Apache-2.0
// The receiving half of a stream: completions, READs while the producer holds, credits, kicks.
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
// Explains why a record is invalid.
Status describe_wrong(const FrameHeader& header, std::uint64_t payload_max) {
  if (header.magic == kPadMagic) return wrong("a pad where none can be");
  TF_RETURN_IF_ERROR(validate(header, payload_max));
  return wrong("a record that goes beyond what was published");
}
Status too_many_pushes() { return wrong("more pushes than the protocol has"); }

}  // namespace

Consumer::Consumer(const Verbs& verbs, const Queues& queues, const ConsumerMemory& memory)
    : verbs_(verbs), queues_(queues), memory_(memory) {}

// --- Completions ------------------------------------------------------------------------------------------

Status Consumer::poll() {
  static_cast<void>(has_news());
  return take_news();
}

Status Consumer::take_news() {
  const std::size_t marked = std::exchange(marked_, 0);  // void if something else has come
  if (marked != 0 && came_ == 0 && failure_.is_ok()) {
    if (take_stamped(marked) && settled_) return Status::ok();  // the usual case
    came_ = verbs_.poll_cq(queues_.completions, kCompletionsAtOnce, completions_.data());
  }
  for (int rounds = 1;; ++rounds) {
    if (came_ < 0 && failure_.is_ok()) failure_ = {Code::kInternal, "rdma: a completion queue failed"};
    // Even after a failure: the peer's last push may be among them.
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
  // One by one: an immediate adds at most kConsumedMask lines to the one before it.
  told_in_immediates_ += (immediate - static_cast<std::uint32_t>(told_in_immediates_)) & kConsumedMask;
  note_told(told_in_immediates_);
  const auto known_lines = static_cast<std::uint32_t>(known_ / kLineBytes);
  const std::uint32_t ahead = ((immediate >> 16) - known_lines) & kEndMask;
  const std::uint64_t end = known_ + std::uint64_t{ahead} * kLineBytes;
  if (ahead <= capacity() / kLineBytes) {
    if (!fits(end)) return wrong("an immediate reports more than the ring holds");
    pushed_end_ = std::max(pushed_end_, end);
    if (!count_push(end)) return too_many_pushes();
  } else {  // fetched before its immediate came
    const std::uint64_t behind = std::uint64_t{kEndMask + 1 - ahead} * kLineBytes;
    if (!count_push(known_ - std::min(known_, behind))) return too_many_pushes();
  }
  const bool hold = (immediate & kHoldBit) != 0;
  if (hold) {
    if (is_fetching()) return wrong("a producer that holds says so again");
    ++seen_;
  }
  if (settling_) return Status::ok();  // settle() does the rest
  // A push without the bit while the producer holds: it is closing and has pushed everything.
  known_ = std::max(known_, pushed_end_);
  if (hold) look_again_ = true;
  return Status::ok();
}

void Consumer::note_told(std::uint64_t lines) {
  opposite_lines_ = std::max(opposite_lines_, lines);
  has_told_ = true;
}

bool Consumer::take_stamped(std::size_t bytes) {
  const std::span<const std::byte> place = memory_.ring.subspan(offset(known_));
  if (!stamped_.take(place, bytes, memory_.ring_secret, known_)) return false;
  const std::uint64_t end = known_ + record_span(bytes);
  if (!count_push(end)) {
    if (failure_.is_ok()) failure_ = too_many_pushes();
    settled_ = false;
    return false;
  }
  stamped_at_ = std::exchange(known_, end);
  const auto more = static_cast<std::int32_t>(stamped_.told() - static_cast<std::uint32_t>(opposite_lines_));
  note_told(more > 0 ? opposite_lines_ + static_cast<std::uint64_t>(more) : opposite_lines_);
  return true;
}

// False: too_many_pushes().
bool Consumer::count_push(std::uint64_t end) {
  const std::uint64_t told = progress_.told.load(std::memory_order_relaxed);
  while (batch_count_ > 0 && batches_[first_batch_] <= told) {
    first_batch_ = (first_batch_ + 1) % kConsumerReceives;
    --batch_count_;
  }
  if (end <= told) return true;
  if (batch_count_ == batches_.size()) return false;
  batches_[(first_batch_ + batch_count_++) % batches_.size()] = end;
  return true;
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
    return wrong("the producer's position is impossible");
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

const Record* Consumer::peek(std::uint64_t payload_max, Status& failure) {
  for (;;) {
    const std::uint64_t at = own_consumed();
    const std::uint64_t available = known_ - at;
    if (available == 0) {
      if (find_mark() && take_stamped(std::exchange(marked_, 0))) continue;
      return nullptr;
    }
    const std::size_t to_end = capacity() - offset(at);
    const std::byte* const record = at == stamped_at_ ? stamped_.data() : memory_.ring.data() + offset(at);
    FrameHeader& header = record_.header;
    std::memcpy(&header, record, sizeof header);
    if (header.magic == kPadMagic && to_end < capacity() && to_end <= available) {
      progress_.consumed.store(at + to_end, std::memory_order_release);
      continue;
    }
    const std::uint64_t bytes = record_span(kFrameHeaderBytes + header.payload_length);
    if (!is_valid(header, payload_max) || bytes > available || bytes > to_end) {
      failure = describe_wrong(header, payload_max);
      return nullptr;
    }
    next_ = at + bytes;
    record_.payload = {record + kFrameHeaderBytes, header.payload_length};
    return &record_;
  }
}

bool Consumer::finish(std::uint64_t position) {
  if (pushed_end_ >= position) known_ = std::max(known_, pushed_end_);
  return known_ >= position;
}

// --- Telling and fetching ---------------------------------------------------------------------------------

bool Consumer::have_told_too_little() const {
  const std::uint64_t consumed = own_consumed();
  const std::uint64_t told = progress_.told.load(std::memory_order_relaxed);
  unsigned handled = 0;
  for (unsigned index = 0; index < batch_count_; ++index) {
    const std::uint64_t end = batches_[(first_batch_ + index) % batches_.size()];
    if (end > told && end <= consumed) ++handled;
  }
  return handled >= kTellBatches;
}

Status Consumer::post_what_is_due() {
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
  if (watching_ != wants_to_watch_ && !reading_) {
    watching_ = wants_to_watch_;
    add_word(watching_ ? 1 : 0, kWatchOffset);
    settling_ = settling_ || !watching_;
  }
  if (!reading_ && (settling_ || (idle && look_again_))) return post_chain(known_, true);
  settled_ = request_count_ == 0;
  return settled_ ? Status::ok() : post_chain(known_, false);
}

// Adds a WRITE to a word at the producer's end.
void Consumer::add_word(std::uint64_t word, std::size_t place) {
  // One source per request that may be in flight: a device that takes no inline bytes reads them later.
  const std::uint64_t number = queues_.pair->posted() + request_count_;
  std::byte* const source = memory_.word_sources + number % kSendDepth * sizeof word;
  word_at(source).store(word, std::memory_order_release);
  ibv_send_wr& request = add_request(IBV_WR_RDMA_WRITE, memory_.credit, place);
  add_piece(request, source, sizeof word, memory_.scratch_key);
  if (queues_.pair->inline_bytes() >= sizeof word) request.send_flags = IBV_SEND_INLINE;
}

// A request for the other side's memory at `offset` from `remote`, without memory of ours yet.
ibv_send_wr& Consumer::add_request(ibv_wr_opcode opcode, const RemoteMemory& remote, std::size_t offset) {
  ibv_send_wr& request = requests_[request_count_];
  request.opcode = opcode;
  request.sg_list = &pieces_[request_count_++];
  request.num_sge = 0;
  request.send_flags = 0;
  request.wr.rdma.remote_addr = remote.address + offset;
  request.wr.rdma.rkey = remote.key;
  return request;
}

void Consumer::add_piece(ibv_send_wr& request, std::byte* memory, std::size_t bytes, std::uint32_t key) {
  request.num_sge = 1;
  *request.sg_list = {.addr = reinterpret_cast<std::uintptr_t>(memory),
                      .length = static_cast<std::uint32_t>(bytes),
                      .lkey = key};
}

// A waiting producer that learns of room is also woken.
void Consumer::add_credit() {
  const std::uint64_t consumed = own_consumed();
  progress_.told.store(consumed, std::memory_order_relaxed);
  add_word(std::uint64_t{granted_} << kGrantShift | (consumed / kLineBytes & kCreditMask), 0);
  told_since_kick_ = true;
  if (waiting_ != 0) add_kick();
}

void Consumer::add_kick() {
  add_request(IBV_WR_RDMA_WRITE_WITH_IMM, memory_.credit, 0).imm_data = 0;
  kicked_ = std::exchange(waiting_, 0);
  told_since_kick_ = false;
}

void Consumer::add_read(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const std::uint64_t bytes = std::min<std::uint64_t>(end - begin, capacity() - offset(begin));
    add_piece(add_request(IBV_WR_RDMA_READ, memory_.mirror, offset(begin)),
              memory_.ring.data() + offset(begin), bytes, memory_.ring_key);
    begin += bytes;
  }
}

// Posts what was added, then READs up to `end`, then a READ of the line if wanted. READs form a chain with
// one completion.
Status Consumer::post_chain(std::uint64_t end, bool with_line) {
  const bool reads = end > known_ || with_line;
  add_read(known_, end);
  if (with_line) {
    look_again_ = false;
    add_piece(add_request(IBV_WR_RDMA_READ, memory_.line, 0), memory_.fetched_line, sizeof(Line),
              memory_.scratch_key);
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

// A request that could not be posted is lost for good.
Status Consumer::keep(Status posted) {
  if (failure_.is_ok()) failure_ = posted;
  return posted;
}

}  // namespace tf::rdma
