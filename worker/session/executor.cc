// SPDX-License-Identifier: Apache-2.0
// The executor's loop: takes requests, executes them in order, and waits in between.
#include "worker/session/executor.h"

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "hipcore/wire/gen/op_traits.h"
#include "transport/base/deadline.h"
#include "worker/session/call.h"

namespace tf::worker {
namespace {

using protocol::Trait;
using namespace std::chrono_literals;

constexpr auto kIdleWait = 1s;  // upper bound of a sleep; wake-ups do not depend on it
constexpr auto kBacklogWait = 1ms;
constexpr unsigned kSpinRounds = 200;  // of wait_until(), before it sleeps
constexpr auto kPauseSleep = 50us;
constexpr auto kDrainTime = 4s;

}  // namespace

void Executor::Batch::clear() {
  bytes.clear();
  entries.clear();
  next = 0;
}

void Executor::Batch::add(const FrameHeader& header, std::span<const std::byte> payload) {
  entries.push_back({header, bytes.size()});
  bytes.insert(bytes.end(), payload.begin(), payload.end());
}

std::span<const std::byte> Executor::Batch::payload(const Entry& entry) const {
  return std::span(bytes).subspan(entry.offset, static_cast<std::size_t>(entry.header.payload_length));
}

Executor::Executor(SessionSetup setup, const DispatchTable& handlers)
    : endpoint_(setup.endpoint), handlers_(handlers), state_(std::move(setup), *this) {}

Executor::~Executor() {
  end({Code::kClosed, "session destroyed"});
  state_.mover.join();
}

void Executor::end(Status reason) {
  note_end();
  state_.callbacks.end();
  endpoint_.fail(std::move(reason));
}

Status Executor::run() {
  state_.mover.start();
  Status status = serve();
  end(status.is_ok() ? Status(Code::kClosed, "the session has ended") : status);
  state_.mover.join();
  return status;
}

Status Executor::serve() {
  while (!draining_.load(std::memory_order_acquire)) {  // pairs with drain()
    Status status = step();
    if (!status.is_ok()) return draining_.load(std::memory_order_relaxed) ? Status::ok() : status;
  }
  // Replies and payload in flight still go out, for a limited time.
  const Deadline deadline = Deadline::after(kDrainTime);
  const auto nothing_pending = [&] {
    state_.compiles.sweep();
    return !state_.copies.pending() && !state_.direct_copies.pending() && state_.short_waits.empty() &&
           !state_.compiles.sending();
  };
  wait_until([&] { return (nothing_pending() && state_.sender.flush()) || deadline.passed(); });
  return Status::ok();
}

// One round of the executor: replies first, then requests, then sleep.
Status Executor::step() {
  if (ending()) return endpoint_.status().is_ok() ? Status(Code::kClosed, "ended") : endpoint_.status();
  state_.copies.progress();
  state_.direct_copies.collect();
  state_.short_waits.progress();
  state_.streams.sweep();
  if (state_.compiles.sending()) state_.compiles.sweep();
  if (!state_.sender.flush()) return wait_for_room();
  if (current_.exhausted()) {
    current_.clear();
    std::swap(current_, lookahead_);
  }
  if (current_.exhausted()) {
    Result<std::size_t> polled = endpoint_.poll(*this, kRequestBatchMax);
    if (!polled) return polled.status();
    if (*polled != 0) return Status::ok();
  }
  if (current_.exhausted() && (!state_.short_waits.empty() || state_.copies.expects_soon())) {
    // To the stream's thread, if it waits for this processor; in a crowd others would run.
    if (!CrowdSign::is_up()) std::this_thread::yield();
    return Status::ok();
  }
  if (current_.exhausted()) {
    const std::chrono::nanoseconds patience = state_.copies.pending() ? state_.copies.patience() : kIdleWait;
    Status waited = endpoint_.wait(Interest::kMessages, Deadline::after(patience));
    return waited.code() == Code::kTimeout ? check_idle() : waited;
  }
  const Batch::Entry entry = current_.entries[current_.next++];
  show_queue();
  execute(handlers_.find(entry.header.opcode), entry.header, current_.payload(entry));
  return Status::ok();
}

// Called while there is nothing to do. A session that has been so for too long ends, but not while the device
// works for it.
Status Executor::check_idle() {
  const std::uint64_t limit = state_.share.of(Limit::kIdle);
  if (limit == 0) return Status::ok();
  const auto now = std::chrono::steady_clock::now();
  const bool is_busy = state_.copies.pending() || state_.direct_copies.pending() ||
                       !state_.short_waits.empty() || state_.compiles.sending() ||
                       state_.share.used_here(Counter::kCompiles) != 0;
  const std::uint64_t calls = state_.tally.requests();
  if (std::exchange(calls_seen_, calls) != calls || is_busy) idle_since_ = now;
  if (now - idle_since_ < std::chrono::seconds(limit)) return Status::ok();
  if (!state_.streams.all_idle()) {
    idle_since_ = now;
    return Status::ok();
  }
  state_.share.reached(Limit::kIdle);
  return {Code::kClosed, "no call for " + std::to_string(limit) + " s (the limit idle)"};
}

// The client has not read its replies yet.
Status Executor::wait_for_room() {
  Status waited = endpoint_.wait(Interest::kMessages, Deadline::after(kBacklogWait));
  if (!waited.is_ok() && waited.code() != Code::kTimeout) return waited;
  Result<std::size_t> driven = endpoint_.poll(*this, 0);
  if (!driven) return driven.status();
  std::this_thread::sleep_for(kPauseSleep);
  return Status::ok();
}

// Inside poll(), where executing cannot poll again and the client may change the payload. Prompt requests
// tolerate both and are executed here, unless something precedes them; others are copied.
Status Executor::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  if (header.has(kFlagResponse)) return {Code::kProtocol, "the client sent a response"};
  const Dispatch dispatch = handlers_.find(header.opcode);
  // A lent copy is settled before anything else; that may wait.
  if (dispatch.traits.has(Trait::kPrompt) && !in_wait_ && current_.exhausted() &&
      !state_.direct_copies.is_lent()) {
    execute(dispatch, header, payload);
    return ending() ? endpoint_.status() : Status::ok();
  }
  (in_wait_ ? lookahead_ : current_).add(header, payload);
  show_queue();
  return Status::ok();
}

void Executor::show_queue() {
  const std::size_t waiting = current_.entries.size() - current_.next + lookahead_.entries.size();
  state_.tally.queued.store(static_cast<std::uint32_t>(waiting), std::memory_order_relaxed);
}

void Executor::execute(const Dispatch& what, const FrameHeader& header, std::span<const std::byte> payload) {
  if (what.handler != nullptr && !what.traits.has(Trait::kDirect)) state_.direct_copies.settle();
  run_handler(what.handler, header, payload);
}

void Executor::run_handler(Handler handler, const FrameHeader& header, std::span<const std::byte> payload) {
  SessionTally::add_alone(state_.tally.calls_of(header.opcode, header.has(kFlagNoReply)), 1);
  SessionTally::add_alone(state_.tally.message_bytes_to_worker, kFrameHeaderBytes + payload.size());
  Call call(state_, header, payload);
  if (handler == nullptr) return call.reply(hipErrorNotSupported);
  try {
    handler(call);
  } catch (const std::exception& error) {
    end({Code::kInternal, std::string("a request could not be executed: ") + error.what()});
  }
}

void Executor::pause(unsigned round) {
  state_.copies.progress();
  state_.short_waits.progress();
  state_.mover.drive();
  look_ahead();
  state_.sender.flush();
  if (round < kSpinRounds) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kPauseSleep);
  }
}

void Executor::look_ahead() {
  if (lookahead_.entries.size() >= kLookaheadMessagesMax || lookahead_.bytes.size() >= kLookaheadBytesMax)
    return;
  in_wait_ = true;
  Result<std::size_t> polled = endpoint_.poll(*this, kRequestBatchMax);
  in_wait_ = false;
  if (!polled) end(polled.status());
}

}  // namespace tf::worker
