// SPDX-License-Identifier: Apache-2.0
// Asks the worker for its clock and for what it has executed.
#include "proxy/session/worker_trace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "hipcore/wire/execution.h"
#include "proxy/stats/counting.h"
#include "transport/base/deadline.h"

namespace tf::proxy {
namespace {

using namespace std::chrono_literals;
using protocol::Execution;

constexpr int kClockTrips = 16;
constexpr int kFetchesMax = 256;  // in a row; a worker keeps less
constexpr auto kAnswerTime = 2s;
constexpr auto kFinishTime = 1s;
constexpr auto kFinishPause = 200us;
constexpr std::size_t kAnswerBytesMax = 64;

template <typename Request>
std::span<const std::byte> asked_bytes(const Request& request) {
  return std::as_bytes(std::span(&request, 1));
}

template <typename Reply>
std::span<std::byte> answer_room(Reply& reply) {
  static_assert(sizeof reply <= kAnswerBytesMax);
  return std::as_writable_bytes(std::span(&reply, 1));
}

}  // namespace

bool WorkerTrace::ask(std::uint16_t opcode, std::span<const std::byte> request, std::span<std::byte> reply) {
  std::array<std::byte, sizeof(protocol::ReplyPrefix) + kAnswerBytesMax> buffer;
  const std::span<std::byte> target = std::span(buffer).first(sizeof(protocol::ReplyPrefix) + reply.size());
  Result<Reply> answer = queue_.call(opcode, 0, request, {}, target, Deadline::after(kAnswerTime));
  if (!answer || answer->bytes != target.size()) return false;
  protocol::ReplyPrefix prefix;
  std::memcpy(&prefix, buffer.data(), sizeof prefix);
  std::ranges::copy(target.subspan(sizeof prefix), reply.begin());  // perhaps of nothing
  return prefix.error == 0;
}

// The shortest round trip knows the other clock best: its middle is wrong by half of it at most.
void WorkerTrace::compare_clocks() {
  stats::WorkerClock best;
  for (int trip = 0; trip < kClockTrips; ++trip) {
    const protocol::ReadClockRequest request{};
    protocol::ReadClockReply reply{};
    const std::uint64_t sent = stats::Clock::monotonic_ns();
    if (!ask(static_cast<std::uint16_t>(request.kOp), asked_bytes(request), answer_room(reply))) return;
    const std::uint64_t error = (stats::Clock::monotonic_ns() - sent) / 2 + 1;
    if (best.error_ns != 0 && error >= best.error_ns) continue;
    const std::uint64_t middle = sent + error;
    best = {middle, static_cast<std::int64_t>(reply.now_ns - middle), error};
  }
  stats::note_worker_clock(best);
}

void WorkerTrace::begin() {
  if (!stats::is_tracing()) return;
  const stats::UnseenScope unseen;
  on_.store(true, std::memory_order_relaxed);
  const protocol::TraceExecutionsRequest request{};
  if (!ask(static_cast<std::uint16_t>(request.kOp), asked_bytes(request), {}))
    return on_.store(false, std::memory_order_relaxed);
  compare_clocks();
}

bool WorkerTrace::fetch_all() {
  Fetched fetched = Fetched::kMore;
  for (int rounds = 0; fetched == Fetched::kMore && rounds < kFetchesMax; ++rounds) fetched = fetch();
  return fetched == Fetched::kUnfinished;
}

WorkerTrace::Fetched WorkerTrace::fetch() {
  const protocol::FetchExecutionsRequest request{};
  protocol::FetchExecutionsReply reply{};
  if (!ask(static_cast<std::uint16_t>(request.kOp), asked_bytes(request), answer_room(reply)))
    return Fetched::kAll;
  stats::note_worker_limits(reply.left_out, reply.error_ns);
  if (reply.more != 0) return Fetched::kMore;
  return reply.unfinished != 0 ? Fetched::kUnfinished : Fetched::kAll;
}

void WorkerTrace::fetch_next() {
  if (asking_.test_and_set(std::memory_order_acquire)) return;
  const stats::UnseenScope unseen;
  posts_.store(0, std::memory_order_relaxed);
  fetch_all();
  asking_.clear(std::memory_order_release);  // pairs with test_and_set()
}

void WorkerTrace::finish() {
  if (!on_.load(std::memory_order_relaxed) || asking_.test_and_set(std::memory_order_acquire)) return;
  const stats::UnseenScope unseen;
  const Deadline limit = Deadline::after(kFinishTime);
  while (fetch_all() && !limit.passed()) std::this_thread::sleep_for(kFinishPause);
  compare_clocks();
}

Status WorkerTrace::take_executions(std::span<const std::byte> tail) {
  const std::size_t count = tail.size() / sizeof(Execution);
  if (!on_.load(std::memory_order_relaxed) || count == 0 || count > protocol::kExecutionsInNotice ||
      tail.size() % sizeof(Execution) != 0)
    return {Code::kProtocol, "the worker says what it has executed, which nobody asked for, or not so"};
  for (; !tail.empty(); tail = tail.subspan(sizeof(Execution))) {
    Execution execution;
    std::memcpy(&execution, tail.data(), sizeof execution);
    stats::note_execution(execution);
  }
  return Status::ok();
}

Status WorkerTrace::take_name(std::uint64_t function, std::span<const std::byte> name) {
  if (!on_.load(std::memory_order_relaxed) || name.size() > protocol::kExecutionNameBytes)
    return {Code::kProtocol, "the worker names a kernel, which nobody asked for, or too long"};
  stats::name_kernel(function, {reinterpret_cast<const char*>(name.data()), name.size()});
  return Status::ok();
}

}  // namespace tf::proxy
