// SPDX-License-Identifier: Apache-2.0
// Sends messages to the worker, waits for replies, and notes what is lost.
#include "proxy/session/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "hipcore/wire/fill.h"
#include "hipcore/wire/gen/notices.h"
#include "transport/base/mutex.h"
#include "transport/base/thread.h"

namespace tf::proxy {
namespace {

constexpr std::size_t kReplyBytesMax = 1024;
constexpr std::chrono::seconds kTellTime{5};    // for a message of a few bytes
constexpr std::chrono::seconds kOrderTime{30};  // for one of some hundred KiB over a slow network

using protocol::Trait;

// The requests that need send_observed().
constexpr bool is_observed(protocol::OpTraits what) {
  return what.has(Trait::kRecords, Trait::kAwaits, Trait::kNewStream);
}

}  // namespace

Connection::Connection(std::unique_ptr<Endpoint> endpoint, net::OwnedStream control, Devices devices,
                       ConnectionObserver& observer)
    : observer_(observer),
      endpoint_(std::move(endpoint)),
      inline_payload_bytes_(endpoint_->capabilities().inline_payload_bytes),
      devices_(devices),
      queue_(*endpoint_, *this, stats::queue_observer()),
      streams_(queue_, handles_),
      control_(std::move(control)) {
  endpoint_->bulk().refuse_unasked();  // every receive is posted before its request
  if (control_ && start_thread(watcher_, "hip-control", [this] { watch_control(); })) return;
  streams_.output().end();
  if (control_)
    log_debug(
        "no thread reads the control connection: only the next call notices a lost worker, and what "
        "kernels print is lost");
}

// A transfer still running refers to memory of ours; failing the endpoint ends it.
void Connection::close() {
  if (control_) ::shutdown(control_.get(), SHUT_RDWR);
  if (watcher_.joinable()) watcher_.join();
  endpoint_->fail(Status(Code::kClosed, "the session ends"));
  streams_.transfers().await_through(UINT64_MAX);
}

// Ends with the connection, at the latest by close().
void Connection::watch_control() {
  LaneWatch lanes(*endpoint_);
  for (;;) {
    pollfd entry{control_.get(), POLLIN | POLLRDHUP, 0};
    const int ready = ::poll(&entry, 1, lanes.sleep_ms(LaneWatch::Clock::now()));
    if (ready < 0 && errno == EINTR) continue;
    if (const Status read = ready != 0 ? read_control(lanes) : Status::ok(); !read.is_ok()) return lose(read);
    if (const Status arriving = report_lanes(lanes); !arriving.is_ok()) return lose(arriving);
  }
}

Status Connection::report_lanes(LaneWatch& lanes) {
  for (const std::string& remark : endpoint_->take_remarks()) log_line(remark);
  const Result<std::optional<LaneReport>> news = lanes.turn(LaneWatch::Clock::now());
  if (!news || !news.value()) return news.status();
  const MutexLock lock(telling_);
  return protocol::send_lanes(control_.stream(), *news.value(), Deadline::after(kTellTime));
}

// Output of kernels, a report of lanes, or the end.
Status Connection::read_control(LaneWatch& lanes) {
  std::array<char, protocol::kOutputChunkMax> buffer;
  Result<protocol::WorkerMessage> message =
      protocol::receive_worker_message(control_.stream(), buffer, Deadline::never());
  if (message.code() == Code::kPeerLost) return {Code::kPeerLost, "the worker closed the control connection"};
  if (!message) return message.status();
  if (message->lanes) return lanes.hear(*message->lanes);
  const protocol::Output& output = *message->output;
  KernelOutput& program = streams_.output();
  if (output.stream == protocol::OutputStream::kOut)
    program.write_out(output.text);
  else
    program.write_error(output.text);
  const MutexLock lock(telling_);
  return protocol::send_output_written(control_.stream(), program.written(), Deadline::after(kTellTime));
}

void Connection::lose(const Status& reason) {
  {
    // Reported before any call can return the loss: the program may end as soon as it sees it.
    const MutexLock lock(loss_mutex_);
    if (lost()) return;
    if (reason.code() != Code::kClosed) {
      loss_told_.line("lost the worker: " + reason.to_string() +
                      "; every HIP call now returns hipErrorDeinitialized");
      if (!leaving_.load(std::memory_order_relaxed)) stats::note_lost();  // it hangs up on our request
    }
    lost_.store(true, std::memory_order_release);  // pairs with lost()
  }
  streams_.output().end();
  endpoint_->fail(reason);
}

hipError_t Connection::transferred(const Status& status) {
  const hipError_t error = transfer_error(status);
  if (error == kLostError) lose_endpoint(status);
  return error;
}

// Before it is reported: no later call may succeed. The endpoint knows best why it ended.
void Connection::lose_endpoint(const Status& otherwise) {
  const Status now = endpoint_->status();
  lose(now.is_ok() ? otherwise : now);
}

void Connection::goodbye() {
  if (lost()) return;
  leaving_.store(true, std::memory_order_relaxed);
  loss_told_.silence();  // the worker hangs up now because we asked it to
  protocol::GoodbyeRequest request{};
  (void)post(0, request);
  for (int i = 0; i < 64; ++i) (void)queue_.poll();
}

hipError_t Connection::record_event(protocol::OpTraits what, int device, std::span<const std::byte> head) {
  const std::uint64_t event = what.event_of(head);
  const std::uint64_t stream = what.stream_of(head);
  if (!streams_.may_record(event, device, stream)) return hipErrorInvalidHandle;
  const hipError_t error = transmit(what.op, device, head, {});
  streams_.note_recording(event, device, stream);
  return error;
}

int Connection::own_ordinal(int worker_device) const {
  for (int device = 0; device < devices_.count; ++device)
    if (worker_ordinal(device) == worker_device) return device;
  return -1;
}

hipError_t Connection::create_stream(protocol::OpTraits what, int device, std::span<const std::byte> head,
                                     std::span<const std::byte> tail) {
  const std::uint64_t stream = what.stream_of(head);
  streams_.note_new(stream, what.flags_of(head));
  if (!devices_.streams_limited) return transmit(what.op, device, head, tail);
  const hipError_t error = exchange(what.op, device, head, tail, {});
  if (error != hipSuccess) forget_stream(stream);
  return error;
}

void Connection::forget_stream(std::uint64_t stream) {
  handles_.of(protocol::HandleKind::kStream).remove(stream);
}

void Connection::note_shared(std::uint64_t event) {
  take_care(Care::kSharing, true);
  streams_.recordings().share(event);
}

void Connection::take_care(Care what, bool on) {
  const auto bit = static_cast<unsigned>(what);
  if (on)
    care_.fetch_or(bit, std::memory_order_relaxed);
  else
    care_.fetch_and(~bit, std::memory_order_relaxed);
}

hipError_t Connection::send(protocol::OpTraits what, int device, std::span<const std::byte> head,
                            std::span<const std::byte> tail) {
  if (takes_care()) [[unlikely]]
    return send_with_care(what, device, head, tail);
  if (is_observed(what)) return send_observed(what, device, head, tail);
  return transmit(what.op, device, head, tail);
}

// Notes what the client needs to know later.
hipError_t Connection::send_observed(protocol::OpTraits what, int device, std::span<const std::byte> head,
                                     std::span<const std::byte> tail) {
  if (what.has(Trait::kRecords)) return record_event(what, device, head);
  if (what.has(Trait::kAwaits)) streams_.note_join(device, what.stream_of(head), what.event_of(head));
  if (what.has(Trait::kNewStream)) return create_stream(what, device, head, tail);
  return transmit(what.op, device, head, tail);
}

hipError_t Connection::send_with_care(protocol::OpTraits what, int device, std::span<const std::byte> head,
                                      std::span<const std::byte> tail) {
  if (const auto verdict = observer_.before_post(what, device, head, tail)) return *verdict;
  const hipError_t error = send_observed(what, device, head, tail);
  observer_.after_post(what);
  if (error != hipSuccess) return error;
  if (stats::counting()) {
    stats::count_post();
    if (what.has(Trait::kWork)) worker_trace_.posted();
  }
  return is_sharing() ? finish_for_sharers(what, device, head) : hipSuccess;
}

hipError_t Connection::send_and_hear(protocol::OpTraits what, int device, std::span<const std::byte> head,
                                     std::span<const std::byte> tail) {
  if (!takes_care()) return exchange(what.op, device, head, tail, {});
  if (const auto verdict = observer_.before_post(what, device, head, tail)) return *verdict;
  const hipError_t error = exchange(what.op, device, head, tail, {});
  observer_.after_post(what);
  return error;
}

hipError_t Connection::transmit(protocol::Op op, int device, std::span<const std::byte> head,
                                std::span<const std::byte> tail) {
  const std::uint32_t flags = kFlagNoReply | (tail.empty() ? 0 : kFlagInlineData) |
                              static_cast<std::uint32_t>(worker_ordinal(device)) << kDeviceShift;
  const Status status = queue_.post(static_cast<std::uint16_t>(op), flags, head, tail);
  if (status.is_ok()) [[likely]]
    return hipSuccess;
  if (status.code() == Code::kInvalidArgument) return hipErrorInvalidValue;  // longer than a message
  lose(status);
  return kLostError;
}

// Posts whose late effect other processes could see: fills without a stream, of memory that is shared with
// them, and recordings of shared events.
hipError_t Connection::finish_for_sharers(protocol::OpTraits what, int device,
                                          std::span<const std::byte> head) {
  if (what.has(Trait::kFills)) {
    const auto fill = protocol::request_of<protocol::FillRequest>(head);
    if (!protocol::is_synchronous(fill.form) || !observer_.seen_by_others(fill.target)) return hipSuccess;
    return synchronized_stream(device, 0, call(device, protocol::SynchronizeStreamRequest{0}));
  }
  if (!what.has(Trait::kRecords)) return hipSuccess;
  const std::uint64_t event = what.event_of(head);
  auto facts = streams_.recordings().find(event);
  if (!facts || !facts->shared) return hipSuccess;
  protocol::QueryEventReply untimed{};
  const hipError_t error = call(device, protocol::QueryEventRequest{.event = event}, untimed);
  return error == hipErrorNotReady ? hipSuccess : error;
}

hipError_t Connection::exchange(protocol::Op op, int device, std::span<const std::byte> head,
                                std::span<const std::byte> tail, std::span<std::byte> reply) {
  std::array<std::byte, sizeof(protocol::ReplyPrefix) + kReplyBytesMax> buffer;
  if (reply.size() > kReplyBytesMax) return hipErrorInvalidValue;
  const bool with_output = streams_.output().outstanding();
  std::uint32_t flags = (tail.empty() ? 0 : kFlagInlineData) | (with_output ? kFlagWithOutput : 0) |
                        static_cast<std::uint32_t>(worker_ordinal(device)) << kDeviceShift;
  std::span<std::byte> target = std::span(buffer).first(sizeof(protocol::ReplyPrefix) + reply.size());
  // We cannot limit how long a kernel runs; a worker that dies closes the control connection.
  Result<Reply> answer =
      queue_.call(static_cast<std::uint16_t>(op), flags, head, tail, target, Deadline::never());
  if (!answer) {
    if (answer.code() == Code::kInvalidArgument) return hipErrorInvalidValue;
    if (answer.code() == Code::kResourceExhausted) return hipErrorOutOfMemory;
    lose(answer.status());
    return kLostError;
  }
  (void)shown_.load(std::memory_order_acquire);  // pairs with end_callback()
  worker_trace_.after_wait();
  protocol::ReplyPrefix prefix;
  bool whole = answer->bytes == target.size();
  if (answer->bytes < sizeof prefix || (!whole && answer->bytes != sizeof prefix)) {
    lose(Status(Code::kProtocol, "a reply of " + std::to_string(answer->bytes) + " bytes, expected " +
                                     std::to_string(target.size())));
    return kLostError;
  }
  std::memcpy(&prefix, buffer.data(), sizeof prefix);
  if (with_output) streams_.output().await(prefix.output);
  auto error = static_cast<hipError_t>(prefix.error);
  if (error == hipSuccess && !whole) {
    lose(Status(Code::kProtocol, "a reply without its fields"));
    return kLostError;
  }
  if (whole && !reply.empty()) std::memcpy(reply.data(), buffer.data() + sizeof prefix, reply.size());
  return error;
}

Status Connection::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  Status status = Status::ok();
  const auto take = [&](const auto& notice, auto tail) { status = on_notice(notice, tail); };
  if (protocol::take_notice(header.opcode, payload, take)) return status;
  return Status(Code::kProtocol, "the worker sent an unexpected message, opcode " +
                                     std::to_string(header.opcode) + ", " + std::to_string(payload.size()) +
                                     " bytes");
}

Status Connection::on_notice(const protocol::ExecutionsNotice&, std::span<const std::byte> executions) {
  return worker_trace_.take_executions(executions);
}

Status Connection::on_notice(const protocol::FunctionNamedNotice& named, std::span<const std::byte> name) {
  return worker_trace_.take_name(named.function, name);
}

Status Connection::on_notice(const protocol::CallbackRefusedNotice& refused, std::span<const std::byte>) {
  observer_.callback_refused(refused.cookie);
  return Status::ok();
}

Status Connection::on_notice(const protocol::CallbackDueNotice& due, std::span<const std::byte>) {
  observer_.callback_due(due.cookie, static_cast<hipError_t>(due.error), due.output);
  return Status::ok();
}

// The way over the worker orders what the function wrote before later replies already; the counter says so in
// terms of the language, and of race detectors.
void Connection::end_callback(std::uint64_t cookie) {
  shown_.fetch_add(1, std::memory_order_release);  // pairs with exchange()
  Status told;
  {
    const MutexLock lock(telling_);
    told = protocol::send_callback_done(control_.stream(), cookie, Deadline::after(kTellTime));
  }
  if (!told) lose(told);
}

void Connection::send_turn(std::uint64_t cookie, std::span<const std::byte> payload) {
  Status told;
  {
    const MutexLock lock(telling_);
    told = protocol::send_turn_payload(control_.stream(), cookie, payload, Deadline::after(kOrderTime));
  }
  if (!told) lose(told);
}

hipError_t Connection::order_mirror(std::span<const std::byte> order) {
  if (lost()) return kLostError;
  Status told;
  {
    const MutexLock lock(telling_);
    told = protocol::send_mirror_order(control_.stream(), order, Deadline::after(kOrderTime));
  }
  if (told) return hipSuccess;
  lose(told);
  return kLostError;
}

hipError_t Connection::pass_file(int file, std::uint64_t& number) {
  if (!control_) return hipErrorNotSupported;
  files_under_way_.acquire();
  Status passed;
  {
    const MutexLock lock(telling_);
    number = ++files_passed_;
    passed = protocol::send_passed_file(control_.get(), number, file, Deadline::after(kTellTime));
  }
  if (passed) return hipSuccess;
  lose(passed);
  files_under_way_.release();
  return kLostError;
}

}  // namespace tf::proxy
