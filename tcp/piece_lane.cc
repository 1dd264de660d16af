// SPDX-License-Identifier: Apache-2.0
// Moves pieces over one socket, in both directions.
#include "tcp/piece_lane.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "transport/base/thread.h"

namespace tf::tcp {
namespace {

constexpr std::size_t kDiscardBytes = 64 * 1024;
constexpr int kSleepMax_ms = 60'000;  // wake-ups do not depend on it

}  // namespace

Status PieceLane::start() {
  TF_RETURN_IF_ERROR(waker_.open());
  if (start_thread(thread_, "hip-tcp-lane", [this] { run(); })) return Status::ok();
  return {Code::kResourceExhausted, "tcp: the system gives no thread for a lane; TF_TCP_LANES=1 needs none"};
}

void PieceLane::end() {
  ending_.store(true, std::memory_order_seq_cst);
  waker_.notify();
}

void PieceLane::stop() {
  end();
  if (thread_.joinable())
    thread_.join();
  else if (!is_over())
    finish({Code::kClosed, "the lane was closed"});
}

void PieceLane::run() {
  Status why;
  while (why.is_ok()) {
    if (ending_.load(std::memory_order_seq_cst)) {
      why = {Code::kClosed, "the lane was closed"};
      break;
    }
    const Result<std::size_t> moved = move();
    if (!moved)
      why = moved.status();
    else if (moved.value() == 0)
      await();
  }
  finish(why);
}

void PieceLane::finish(const Status& why) {
  io_.receiver->cancel();
  io_.sender->cancel();
  over_.store(true, std::memory_order_release);
  parts_.listener.lane_ended(why);
}

// Bytes moved. A broken send alone ends nothing: bytes that the peer sent before it left are still to be
// read.
Result<std::size_t> PieceLane::move() {
  again_ = false;
  Result<std::size_t> in = move_in();
  if (!in) return in;
  Result<std::size_t> out = move_out();
  if (!out && (*in == 0)) return out;
  return *in + (out ? *out : 0);
}

// --- In -------------------------------------------------------------------------------------------------

Result<std::size_t> PieceLane::move_in() {
  return in_header_ < sizeof in_ ? receive_header() : receive_body();
}

Result<std::size_t> PieceLane::receive_header() {
  if (!io_.receiver->busy())
    io_.receiver->start(std::as_writable_bytes(std::span(&in_, 1)).subspan(in_header_));
  Result<std::size_t> got = io_.receiver->finish();
  if (!got) return got;
  again_ |= *got == 0 && !io_.receiver->busy();
  in_header_ += *got;
  if (in_header_ < sizeof in_) return got;
  TF_RETURN_IF_ERROR(validate(in_));
  taken_ = false;
  landed_ = 0;
  return got;
}

Result<std::size_t> PieceLane::receive_body() {
  if (!io_.receiver->busy()) {
    const std::uint64_t news = parts_.incoming.news();
    if (!taken_) {
      const Result<bool> taken = parts_.incoming.take(in_);
      if (!taken) return taken.status();
      taken_ = taken.value();
    }
    const bool begun = taken_ && begin_body();
    if (!begun) seen_news_.store(news, std::memory_order_relaxed);
    stalled_.store(!begun, std::memory_order_seq_cst);
    if (!begun) return std::size_t{0};
  }
  Result<std::size_t> got = io_.receiver->finish();
  if (!got) return got;
  again_ |= *got == 0 && !io_.receiver->busy();
  if (*got == 0) return got;
  const std::uint64_t offset = in_.offset + landed_;
  landed_ += *got;
  if (landed_ == in_.bytes) in_header_ = 0;
  if (parts_.incoming.land(in_.stripe, offset, *got)) parts_.listener.transfer_ended();
  return got;
}

// False: the memory is not reserved yet.
bool PieceLane::begin_body() {
  const IncomingStripes::Place place =
      parts_.incoming.place(in_.stripe, in_.offset + landed_, in_.bytes - landed_);
  if (place.bytes == 0) return false;
  if (place.target.empty()) {
    scratch_.resize(kDiscardBytes);
    io_.receiver->start(std::span(scratch_).first(std::min(place.bytes, kDiscardBytes)));
  } else {
    io_.receiver->start(place.target);
  }
  return true;
}

// --- Out ------------------------------------------------------------------------------------------------

Result<std::size_t> PieceLane::move_out() {
  release_sent();
  if (!out_) {
    out_ = parts_.outgoing.claim();
    out_header_ = out_body_ = 0;
  }
  if (!out_) {
    if (!unreleased_.empty()) {
      TF_RETURN_IF_ERROR(io_.sender->finish().status());
      release_sent();
    }
    blocked_ = !unreleased_.empty();
    return std::size_t{0};
  }
  const std::span<const std::byte> header = std::as_bytes(std::span(&out_->header, 1));
  const bool is_body = out_header_ == header.size();
  Result<std::size_t> sent =
      send_part(is_body ? out_->source.subspan(out_body_) : header.subspan(out_header_), is_body);
  blocked_ = sent && *sent == 0;
  if (!sent || *sent == 0) return sent;
  (is_body ? out_body_ : out_header_) += *sent;
  if (out_body_ == out_->source.size()) {
    parts_.outgoing.sent(out_body_);
    out_.reset();
  }
  release_sent();
  return sent;
}

Result<std::size_t> PieceLane::send_part(std::span<const std::byte> part, bool is_body) {
  if (!io_.sender->busy()) io_.sender->start(part, !is_body);
  Result<std::size_t> sent = io_.sender->finish();
  again_ |= sent && *sent == 0 && !io_.sender->busy();
  if (sent && *sent > 0) unreleased_.push_back({.send = is_body ? out_->send : 0, .bytes = *sent});
  return sent;
}

// The engine frees memory in the order in which it was sent, headers included.
void PieceLane::release_sent() {
  std::size_t released = io_.sender->take_released();
  bool ended = false;
  while (released > 0 && !unreleased_.empty()) {
    Segment& oldest = unreleased_.front();
    const std::size_t step = std::min(released, oldest.bytes);
    if (oldest.send != 0) ended |= parts_.queue.finish_send(oldest.send, step);
    oldest.bytes -= step;
    released -= step;
    if (oldest.bytes == 0) unreleased_.pop_front();
  }
  if (ended) parts_.listener.transfer_ended();
}

// --- Waiting --------------------------------------------------------------------------------------------

pollfd PieceLane::input() const {
  pollfd entry = io_.receiver->wait_for();
  if (is_stalled()) entry.fd = -1;
  return entry;
}

pollfd PieceLane::output() const {
  pollfd entry = io_.sender->wait_for();
  if (!blocked_) entry.fd = -1;
  return entry;
}

bool PieceLane::has_work() {
  if (again_ || ending_.load(std::memory_order_seq_cst)) return true;
  if (!out_ && !parts_.outgoing.empty()) return true;
  if (is_stalled() && !stays_stalled()) return true;
  std::array<pollfd, 2> entries = {input(), output()};
  return ::poll(entries.data(), entries.size(), 0) > 0;
}

void PieceLane::await() {
  const auto start = SpinBudget::Clock::now();
  bool found = false;
  for (Spin spin(spin_, start); !found && spin.go_on(SpinBudget::Clock::now());) found = has_work();
  if (!found) {
    const int seat = waker_.arm();
    if (!has_work()) {
      std::array<pollfd, 3> entries = {input(), output(),
                                       pollfd{.fd = waker_.fd(seat), .events = POLLIN, .revents = 0}};
      ::poll(entries.data(), entries.size(), kSleepMax_ms);
    }
    waker_.disarm(seat);
  }
  spin_.learn(SpinBudget::Clock::now() - start);
}

}  // namespace tf::tcp
