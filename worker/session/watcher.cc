// SPDX-License-Identifier: Apache-2.0
// Reads what client and supervisor say outside the order of requests.
#include "worker/session/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "transport/base/deadline.h"
#include "worker/base/channel.h"
#include "worker/base/log.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr auto kEndGrace = 2s;     // for calls of the runtime that are under way when the client is gone
constexpr auto kControlTime = 5s;  // from the first byte of a message to its last
constexpr auto kReportTime = 5s;   // the connection has room for it; a host short of memory may need a moment
constexpr auto kGoodbyeTime = 100ms;
constexpr auto kGoodbyePause = 200us;
constexpr int kWatchPoll_ms = 500;  // without an eventfd

}  // namespace

Watcher::Watcher(Executor& executor, Endpoint& endpoint, MemoryBroker& broker, KernelOutput& output,
                 const net::Stream& control, LastWords& words)
    : executor_(executor),
      broker_(broker),
      output_(output),
      sender_(output, control),
      endpoint_(endpoint),
      lanes_(endpoint),
      control_(control),
      words_(words),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { watch(); }) {}

Watcher::~Watcher() {
  finished_.store(true, std::memory_order_release);  // pairs with finished()
  const std::uint64_t one = 1;
  // Cannot fail on a fresh counter; without an eventfd the watcher looks up by itself.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void Watcher::watch() {
  const bool is_woken = wake_ && output_.ready();
  while (!finished()) {
    pollfd polled[4] = {{control_.socket, POLLIN, 0},
                        {kSessionChannelFd, POLLIN, 0},
                        {wake_.get(), POLLIN, 0},
                        {sender_.waits_for(), POLLIN, 0}};
    const int until_turn_ms = lanes_.sleep_ms(LaneWatch::Clock::now());
    const int ready = ::poll(polled, std::size(polled), is_woken ? until_turn_ms : kWatchPoll_ms);
    if (ready > 0 && polled[0].revents != 0) {
      if (Status read = read_control(); !read.is_ok()) {
        if (read.code() == Code::kPeerLost) await_goodbye();
        return stop(std::move(read));
      }
    }
    if (Status sent = turn(); !sent.is_ok()) return stop(std::move(sent));
    if (ready > 0 && polled[1].revents != 0 && !read_channel())
      return stop({Code::kPeerLost, "the supervisor ended"});
  }
}

// A client that ends in order says Goodbye and hangs up. Its Goodbye is a request: the executor may not have
// come to it yet. A client that was killed has said none, and its session ends so much later.
void Watcher::await_goodbye() const {
  const Deadline patience = Deadline::after(kGoodbyeTime);
  while (!executor_.draining() && !finished() && !patience.passed())
    std::this_thread::sleep_for(kGoodbyePause);
}

// Tells what there is to tell. Does not wait.
Status Watcher::turn() {
  TF_RETURN_IF_ERROR(sender_.send());
  for (const std::string& remark : endpoint_.take_remarks()) log(LogLevel::kWarning, "{}", remark);
  const Result<std::optional<LaneReport>> news = lanes_.turn(LaneWatch::Clock::now());
  if (!news || !news.value()) return news.status();
  return protocol::send_lanes(control_, *news.value(), Deadline::after(kReportTime));
}

// A message for the session, or the end.
Status Watcher::read_control() {
  Result<protocol::ControlMessage> message =
      protocol::receive_control_message(control_, Deadline::after(kControlTime));
  // What this process lacks (descriptors, memory) is not the connection's end.
  const bool lacks = message.code() == Code::kResourceExhausted;
  if (lacks || message.code() == Code::kProtocol) return message.status();
  if (!message) return {Code::kPeerLost, "the client's control connection ended"};
  using Kind = protocol::ControlMessage::Kind;
  SessionState& session = executor_.state();
  switch (message->kind) {
    case Kind::kFile: return session.passed_files.deliver(message->number, std::move(message->file));
    case Kind::kOutputWritten: return sender_.written(message->number);
    case Kind::kMirrorOrder: return session.mirror_orders.order(std::move(message->order));
    case Kind::kTurnPayload: return take_payload(*message);
    case Kind::kLanes: return lanes_.hear(message->lanes);
    case Kind::kCallbackDone: break;
  }
  session.callbacks.done(message->number);
  return Status::ok();
}

Status Watcher::take_payload(const protocol::ControlMessage& message) {
  const auto read = [this](std::span<std::byte> landing) {
    return net::read_all(control_, landing, Deadline::after(kControlTime));
  };
  return executor_.state().callbacks.take_payload(message.number, message.bytes, read);
}

bool Watcher::read_channel() {
  Result<ChannelMessage> message = receive_message(kSessionChannelFd, Deadline::now());
  if (message && message->kind == Envelope::kDrain) executor_.drain();
  const bool alive = message.is_ok() || message.code() == Code::kTimeout;
  if (message && message->kind == Envelope::kAnswer) broker_.deliver(std::move(*message));
  // An extra lane for a complete endpoint belongs to nobody: closed with the message.
  return alive;
}

void Watcher::stop(Status reason) {
  words_.end(executor_.draining() ? kClientLeft : reason.to_string());
  executor_.end(std::move(reason));
  output_.close();
  const Deadline grace = Deadline::after(kEndGrace);
  while (!finished()) {
    if (grace.passed()) ::_exit(0);  // a kernel or call that does not end: it ends with the process
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace tf::worker
