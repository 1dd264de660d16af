// SPDX-License-Identifier: Apache-2.0
#include "proxy/session/session.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "proxy/base/thread.h"
#include "proxy/base/thread_state.h"
#include "proxy/graphs/graphs.h"
#include "proxy/session/device_view.h"
#include "proxy/stats/counting.h"

namespace tf::proxy {
namespace {

struct ErrorPrefix {
  std::int32_t error = 0;
  std::uint32_t reserved = 0;
};
constexpr std::size_t kReplyBytesMax = 1024;
constexpr std::chrono::seconds kPassTime{5};  // for a message of a few bytes

// hipStreamCreate's own streams order themselves after the null stream; of the others the flags say it.
bool creates_unordered_stream(protocol::Op op, std::span<const std::byte> head, std::uint64_t& stream) {
  const auto flagged = [&]<typename Request>(Request request) {
    if (head.size() != sizeof request) return false;
    std::memcpy(&request, head.data(), sizeof request);
    stream = request.stream;
    return (request.flags & hipStreamNonBlocking) != 0;
  };
  if (op == protocol::Op::kStreamCreateWithFlags) return flagged(protocol::StreamCreateWithFlagsRequest{});
  return op == protocol::Op::kStreamCreateWithPriority &&
         flagged(protocol::StreamCreateWithPriorityRequest{});
}

// What observe() has an eye on.
constexpr bool is_observed(protocol::Op op) {
  return op == protocol::Op::kStreamWaitEvent || op == protocol::Op::kStreamCreateWithFlags ||
         op == protocol::Op::kStreamCreateWithPriority;
}

}  // namespace

Session::Session(Parts parts)
    : endpoint_(std::move(parts.endpoint)),
      snapshot_(only_device(std::move(parts.snapshot), parts.only_device)),
      control_(std::move(parts.control)),
      device_base_(parts.only_device > 0 ? static_cast<std::uint32_t>(parts.only_device) : 0),
      queue_(*endpoint_, *this, stats::queue_observer()),
      transfers_(queue_, faults_),
      device_memory_(snapshot_, *this),
      pools_(handles_.of(protocol::HandleKind::kMemPool)),
      host_window_(*this),
      host_memory_(host_window_),
      mirror_(*this),
      copy_threads_(parts.copy_helpers),
      staging_(*this),
      modules_(*this),
      callbacks_(*this),
      graphs_(std::make_unique<Graphs>(*this)) {
  endpoint_->bulk().refuse_unasked();  // every receive is posted before its request
  map_leases(std::move(parts.files.leases), reserve_windows());
  map_host_window(parts.files.host_window.get());
  if (control_ && !start_thread(watcher_, "hip-control", [this] { watch_control(); }))
    log_debug("no thread watches the control connection: only the next call notices a lost worker");
}

Session::~Session() {
  callbacks_.stop();
  if (control_) ::shutdown(control_.get(), SHUT_RDWR);
  if (watcher_.joinable()) watcher_.join();
  // A transfer still running refers to memory of ours; failing the endpoint ends it.
  endpoint_->fail(Status(Code::kClosed, "the session ends"));
  transfers_.await_through(UINT64_MAX);
}

// False: a device's window could not be reserved.
bool Session::reserve_windows() {
  bool all = true;
  for (const protocol::DeviceSnapshot& device : snapshot_.devices) {
    if (device.window.bytes == 0) continue;
    Result<ReservedWindow> window = ReservedWindow::reserve(device.window.base, device.window.bytes);
    all = all && window && *window;
    if (window) {
      windows_.push_back(std::move(*window));
    } else {
      // Addresses inside live allocations still decide; only a stray pointer could be taken for the other
      // kind.
      log_debug("continuing without a reserved address window: " + window.status().to_string());
    }
  }
  if (snapshot_.reservations.bytes == 0 || snapshot_.devices.empty()) return all;
  // These the program is told of before anything lives in them: no window, no virtual memory management.
  const protocol::AddressWindow& range = snapshot_.reservations;
  Result<ReservedWindow> window = ReservedWindow::reserve(range.base, range.bytes);
  if (!window) {
    log_debug("no virtual memory management: " + window.status().to_string());
    return all;
  }
  windows_.push_back(std::move(*window));
  std::uint64_t unit = 0;
  for (const protocol::DeviceSnapshot& device : snapshot_.devices)
    unit = std::max(unit, device.map_granularity_bytes);
  virtual_memory_.open(range, unit);
  return all;
}

void Session::map_leases(net::OwnedFd socket, bool reserved) {
  if (reserved) lease_mappings_.open(std::move(socket));
  if (!lease_mappings_.complete()) snapshot_.device_access = protocol::DeviceAccess::kNone;
}

// The mapping outlives the descriptor.
void Session::map_host_window(int file) {
  if (snapshot_.host_access != protocol::HostAccess::kNone) {
    const Status mapped = host_window_.map(snapshot_.host_window, snapshot_.host_access, file);
    if (!mapped.is_ok()) log_debug("kernels cannot use host memory: " + mapped.to_string());
    snapshot_.host_access = host_window_.access();
  }
  describe_host_access(snapshot_);
}

void Session::watch_control() {
  for (;;) {
    pollfd entry{control_.get(), POLLIN | POLLRDHUP, 0};
    int ready = ::poll(&entry, 1, -1);  // ends with the connection, at the latest in ~Session
    if (ready < 0 && errno == EINTR) continue;
    break;
  }
  // Nothing is ever sent on it after HELLO: readable means closed, or a worker that is none.
  lose(Status(Code::kPeerLost, "the worker closed the control connection"));
}

void Session::lose(const Status& reason) {
  {
    // Told before any call can return the loss: the program may end at once when it sees it.
    std::lock_guard lock(loss_mutex_);
    if (lost()) return;
    if (reason.code() != Code::kClosed) {
      loss_told_.line("lost the worker: " + reason.to_string() +
                      "; every HIP call now returns hipErrorDeinitialized");
      if (!leaving_.load(std::memory_order_relaxed)) stats::note_lost();  // it hangs up when it is told to
    }
    lost_.store(true, std::memory_order_release);  // pairs with lost()
  }
  endpoint_->fail(reason);
}

hipError_t Session::transferred(const Status& status) {
  const hipError_t error = transfer_error(status);
  if (error == kLostError) lose_endpoint(status);
  return error;
}

// Before anybody is told of it: no later call may succeed. The endpoint knows best why it ended.
void Session::lose_endpoint(const Status& otherwise) {
  const Status now = endpoint_->status();
  lose(now.is_ok() ? otherwise : now);
}

void Session::goodbye() {
  if (lost()) return;
  leaving_.store(true, std::memory_order_relaxed);
  loss_told_.silence();  // the worker hangs up now because we asked it to
  protocol::GoodbyeRequest request{};
  (void)post(0, request);
  for (int i = 0; i < 64; ++i) (void)queue_.poll();
}

hipError_t Session::record_event(int device, std::span<const std::byte> head) {
  protocol::EventRecordRequest request;
  if (head.size() != sizeof request) return hipErrorInvalidValue;
  std::memcpy(&request, head.data(), sizeof request);
  if (!may_record(request.event, device, request.stream)) return hipErrorInvalidHandle;
  const hipError_t error = transmit(request.kOp, device, head, {});
  note_recording(request.event, device, request.stream);
  return error;
}

// The stream goes on when the event's has got to it: copies from before land first, wherever they are waited
// for.
void Session::note_join(int device, std::span<const std::byte> head) {
  protocol::StreamWaitEventRequest request;
  if (transfers_.none_running() || head.size() != sizeof request) return;
  std::memcpy(&request, head.data(), sizeof request);
  const auto recording = recordings_.find(request.event);
  if (!recording || !recording->recorded) return;
  transfers_.join(stream_device(device, request.stream), request.stream,
                  copies_of(recording->device, recording->stream, recording->transfers));
}

bool Session::is_blocking(std::uint64_t stream) {
  if (stream == 0 || !has_unordered_streams()) return true;
  const auto facts =
      std::dynamic_pointer_cast<const StreamFacts>(handles_.of(protocol::HandleKind::kStream).facts(stream));
  return facts == nullptr || facts->blocking;
}

// Generated posts whose meaning the client needs later.
void Session::observe(protocol::Op op, int device, std::span<const std::byte> head) {
  if (op == protocol::StreamWaitEventRequest::kOp) {
    note_join(device, head);
  } else if (std::uint64_t stream = 0; creates_unordered_stream(op, head, stream)) {
    unordered_streams_.store(true, std::memory_order_relaxed);
    auto facts = std::make_shared<StreamFacts>();
    facts->blocking = false;
    handles_.of(protocol::HandleKind::kStream).set_facts(stream, std::move(facts));
  }
}

// Behind the message: see EventRecordings::ask().
void Session::note_recording(std::uint64_t event, int device, std::uint64_t stream) {
  recordings_.record(event, device, stream, transfers_.last_sequence());
}

void Session::note_shared(std::uint64_t event) {
  note_sharing();
  recordings_.share(event);
}

// Something is going on besides that messages may have to do with.
bool Session::takes_care() const {
  return graphs_->capturing() || mirror_.any() || is_sharing() || stats::counting();
}

hipError_t Session::send(protocol::Op op, int device, std::span<const std::byte> head,
                         std::span<const std::byte> tail) {
  if (takes_care()) [[unlikely]]
    return send_with_care(op, device, head, tail);
  return send_observed(op, device, head, tail);
}

hipError_t Session::send_observed(protocol::Op op, int device, std::span<const std::byte> head,
                                  std::span<const std::byte> tail) {
  if (op == protocol::Op::kEventRecord) return record_event(device, head);
  if (is_observed(op)) observe(op, device, head);
  return transmit(op, device, head, tail);
}

hipError_t Session::send_with_care(protocol::Op op, int device, std::span<const std::byte> head,
                                   std::span<const std::byte> tail) {
  // A launch has asked before, when it knew more.
  if (op != protocol::Op::kLaunch && graphs_->capturing()) {
    if (const auto verdict = graphs_->offer(op, device, head)) return *verdict;
  }
  if (mirror_.any()) {
    if (hipError_t error = mirror_.before(op, device, head); error != hipSuccess) return error;
  }
  const hipError_t error = send_observed(op, device, head, tail);
  if (error != hipSuccess) return error;
  if (stats::counting()) stats::count_post();
  return is_sharing() ? settle(op, device, head) : hipSuccess;
}

hipError_t Session::transmit(protocol::Op op, int device, std::span<const std::byte> head,
                             std::span<const std::byte> tail) {
  const std::uint32_t flags = kFlagNoReply | (tail.empty() ? 0 : kFlagInlineData) |
                              (static_cast<std::uint32_t>(device) + device_base_) << kDeviceShift;
  const Status status = queue_.post(static_cast<std::uint16_t>(op), flags, head, tail);
  if (status.is_ok()) [[likely]]
    return hipSuccess;
  if (status.code() == Code::kInvalidArgument) return hipErrorInvalidValue;  // longer than a message
  lose(status);
  return kLostError;
}

// Posts that other processes could see the late effect of: the fills without a stream, and recordings of
// shared events.
hipError_t Session::settle(protocol::Op op, int device, std::span<const std::byte> head) {
  switch (op) {
    case protocol::Op::kMemset:
    case protocol::Op::kMemsetD8:
    case protocol::Op::kMemsetD16:
    case protocol::Op::kMemsetD32:
    case protocol::Op::kMemset2D:
    case protocol::Op::kMemset3D:
      return synchronized_stream(device, 0, call(device, protocol::SynchronizeStreamRequest{0}));
    case protocol::Op::kEventRecord: break;
    default: return hipSuccess;
  }
  protocol::EventRecordRequest recorded;
  std::memcpy(&recorded, head.data(), sizeof recorded);
  auto facts = recordings_.find(recorded.event);
  if (!facts || !facts->shared) return hipSuccess;
  hipError_t error = call(device, protocol::QueryEventRequest{recorded.event});
  return error == hipErrorNotReady ? hipSuccess : error;
}

hipError_t Session::exchange(protocol::Op op, int device, std::span<const std::byte> head,
                             std::span<const std::byte> tail, std::span<std::byte> reply) {
  std::array<std::byte, sizeof(ErrorPrefix) + kReplyBytesMax> buffer;
  if (reply.size() > kReplyBytesMax) return hipErrorInvalidValue;
  std::uint32_t flags = (tail.empty() ? 0 : kFlagInlineData) |
                        (static_cast<std::uint32_t>(device) + device_base_) << kDeviceShift;
  std::span<std::byte> target = std::span(buffer).first(sizeof(ErrorPrefix) + reply.size());
  // How long a kernel runs is not ours to bound; a worker that dies closes the control connection.
  Result<Reply> answer =
      queue_.call(static_cast<std::uint16_t>(op), flags, head, tail, target, Deadline::never());
  if (!answer) {
    if (answer.code() == Code::kInvalidArgument) return hipErrorInvalidValue;
    if (answer.code() == Code::kResourceExhausted) return hipErrorOutOfMemory;
    lose(answer.status());
    return kLostError;
  }
  callbacks_.see_finished();
  ErrorPrefix prefix;
  bool whole = answer->bytes == target.size();
  if (answer->bytes < sizeof prefix || (!whole && answer->bytes != sizeof prefix)) {
    lose(Status(Code::kProtocol, "a reply of " + std::to_string(answer->bytes) + " bytes, expected " +
                                     std::to_string(target.size())));
    return kLostError;
  }
  std::memcpy(&prefix, buffer.data(), sizeof prefix);
  auto error = static_cast<hipError_t>(prefix.error);
  if (error == hipSuccess && !whole) {
    lose(Status(Code::kProtocol, "a reply without its fields"));
    return kLostError;
  }
  if (whole && !reply.empty()) std::memcpy(reply.data(), buffer.data() + sizeof prefix, reply.size());
  return error;
}

Status Session::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  auto op = static_cast<protocol::Op>(header.opcode);
  if (op == protocol::FaultRequest::kOp && payload.size() == sizeof(protocol::FaultRequest)) {
    protocol::FaultRequest fault;
    std::memcpy(&fault, payload.data(), sizeof fault);
    return on_fault(fault);
  }
  if (op == protocol::CallbackDueRequest::kOp && payload.size() == sizeof(protocol::CallbackDueRequest)) {
    protocol::CallbackDueRequest due;
    std::memcpy(&due, payload.data(), sizeof due);
    callbacks_.due(due.cookie, static_cast<hipError_t>(due.error));
    return Status::ok();
  }
  if (op == protocol::DeviceFailedRequest::kOp && payload.size() >= sizeof(protocol::DeviceFailedRequest)) {
    protocol::DeviceFailedRequest failed;
    std::memcpy(&failed, payload.data(), sizeof failed);
    on_device_failed(failed, payload.subspan(sizeof failed));
    return Status::ok();
  }
  return Status(Code::kProtocol, "the worker sent an unexpected message, opcode " +
                                     std::to_string(header.opcode) + ", " + std::to_string(payload.size()) +
                                     " bytes");
}

hipError_t Session::synchronize_stream(int device, std::uint64_t stream) {
  if (pending_work_.quiet()) return synchronized_stream(device, stream, lost() ? kLostError : hipSuccess);
  return synchronize_stream(device, stream, [&] {
    protocol::SynchronizeStreamRequest request{};
    request.stream = stream;
    return call(device, request);
  });
}

hipError_t Session::synchronize_device(int device) {
  if (pending_work_.quiet()) return synchronized_device(device, lost() ? kLostError : hipSuccess);
  const PendingWork::Proof proof = pending_work_.begin(PendingWork::mark_of(device, 0), device_count() == 1);
  const hipError_t error = synchronized_device(device, call(device, protocol::SynchronizeDeviceRequest{}));
  pending_work_.end(proof, error == hipSuccess);
  return error;
}

hipError_t Session::synchronized_stream(int device, std::uint64_t stream, hipError_t error) {
  await_copies(device, stream);
  hipError_t fault = faults_.take_stream(device, stream);
  if (fault == kLostError) [[unlikely]]
    lose_endpoint(Status(Code::kPeerLost, "a copy did not finish"));
  if (error == hipSuccess) {
    if (stream == 0) {
      // The null stream waits for every blocking stream; what those left behind is reported there too.
      fault = fault != hipSuccess ? fault : faults_.take_stream(device, 1);
    }
    device_memory_.stream_idle(device, stream);
    pools_.synchronized(device);
    error = waited();
  }
  return error != hipSuccess ? error : fault;
}

hipError_t Session::synchronized_device(int device, hipError_t error) {
  error = settle_device(device, error);
  const hipError_t fault = faults_.take_device(device);
  if (fault == kLostError) [[unlikely]]
    lose_endpoint(Status(Code::kPeerLost, "a copy did not finish"));
  return error != hipSuccess ? error : fault;
}

hipError_t Session::settle_device(int device, hipError_t error) {
  transfers_.await_device(device);
  if (error != hipSuccess) return error;
  device_memory_.device_idle(device);
  pools_.synchronized(device);
  return waited();
}

std::uint64_t Session::own_stream(int device) {
  std::uint64_t& raw = thread_state().own_streams[static_cast<std::size_t>(device) % kThreadDevicesMax];
  HandleTable& streams = handles_.of(protocol::HandleKind::kStream);
  if (raw != 0 && streams.contains(raw)) return raw;
  auto handle = streams.create(device);
  if (!handle) return 0;
  protocol::StreamCreateWithFlagsRequest request{};
  request.stream = handle->raw();
  request.flags = hipStreamDefault;
  if (post(device, request) != hipSuccess) return 0;
  raw = handle->raw();
  return raw;
}

hipError_t Session::lease(int device, std::uint64_t bytes, Lease& lease) {
  protocol::LeaseMemoryRequest request{};
  request.bytes = bytes;
  protocol::LeaseMemoryReply reply{};
  const std::lock_guard order(lease_mappings_.order());
  const hipError_t error = call(device, request, reply);
  if (error != hipSuccess) return error;
  lease = Lease{reply.address, reply.bytes};
  const protocol::AddressWindow& window = snapshot_.devices[static_cast<std::size_t>(device)].window;
  const bool mapped = reply.mapped != 0 && window.contains(lease.address, lease.bytes);
  const Status taken = lease_mappings_.take(lease.address, lease.bytes, mapped);
  if (!taken.is_ok()) log_debug("device memory is no longer mapped in this process: " + taken.to_string());
  return hipSuccess;
}

void Session::return_lease(int device, std::uint64_t address) {
  huge_pages_.forget(address, lease_mappings_.drop(address));
  protocol::ReturnLeaseRequest request{};
  request.address = address;
  (void)post(device, request);
}

void Session::unshare(int device, std::uint64_t base) {
  auto key = shared_memory_.freed(base);
  if (!key) return;
  protocol::WithdrawSharedRequest request{};
  request.key_low = key->low;
  request.key_high = key->high;
  (void)post(device, request);
}

hipError_t Session::open_host_part(std::uint64_t address, std::uint64_t bytes) {
  protocol::OpenHostPartRequest request{};
  request.address = address;
  request.bytes = bytes;
  return call(0, request);
}

void Session::close_host_part(std::uint64_t address, std::uint64_t bytes) {
  huge_pages_.forget(address, bytes);
  protocol::CloseHostPartRequest request{};
  request.address = address;
  (void)post(0, request);
}

// The file is on its way before the request that names it.
hipError_t Session::map_host_file(std::uint64_t address, std::uint64_t bytes, int file,
                                  std::uint64_t offset) {
  if (!control_) return hipErrorNotSupported;
  protocol::MapHostFileRequest request{};
  request.address = address;
  request.bytes = bytes;
  request.offset = offset;
  files_under_way_.acquire();
  Status passed;
  {
    std::lock_guard lock(passing_);
    request.number = ++files_passed_;
    passed = protocol::send_passed_file(control_.get(), request.number, file, Deadline::after(kPassTime));
  }
  if (!passed) lose(passed);
  const hipError_t error = passed ? call(0, request) : kLostError;
  files_under_way_.release();
  return error;
}

void Session::unmap_host_file(std::uint64_t address) {
  protocol::UnmapHostFileRequest request{};
  request.address = address;
  (void)post(0, request);
}

// For memory that waits for its stream; what the worker says of the program's work is kept for the program.
hipError_t Session::drain(int device) {
  const hipError_t error = call(device, protocol::SynchronizeDeviceRequest{});
  if (error != hipSuccess && error != kLostError) faults_.note(device, 0, error);
  return error;
}

}  // namespace tf::proxy
