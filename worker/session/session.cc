// SPDX-License-Identifier: Apache-2.0
// See session.h.
#include "worker/session/session.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/gen/op.h"
#include "transport/base/processor.h"
#include "worker/gen/dispatch.h"
#include "worker/session/call.h"

namespace tf::worker {
namespace {

using protocol::HandleKind;
using namespace std::chrono_literals;

constexpr auto kIdleWait = 1s;  // upper bound of a sleep; wake-ups do not depend on it
constexpr auto kBacklogWait = 1ms;
constexpr unsigned kSpinRounds = 200;  // of wait_until(), before it sleeps
constexpr auto kPauseSleep = 50us;
constexpr auto kDrainTime = 4s;

// Copies that DirectCopies may take: it settles what came before itself.
bool begins_copy(std::uint16_t opcode) {
  return opcode == static_cast<std::uint16_t>(protocol::Op::kCopyToDevice) ||
         opcode == static_cast<std::uint16_t>(protocol::Op::kCopyFromDevice);
}

}  // namespace

void Session::Batch::clear() {
  bytes.clear();
  entries.clear();
  next = 0;
}

void Session::Batch::add(const FrameHeader& header, std::span<const std::byte> payload) {
  entries.push_back({header, bytes.size()});
  bytes.insert(bytes.end(), payload.begin(), payload.end());
}

std::span<const std::byte> Session::Batch::payload(const Entry& entry) const {
  return std::span(bytes).subspan(entry.offset, static_cast<std::size_t>(entry.header.payload_length));
}

Session::Session(const protocol::HipTable& hip, const OptionalFunctions& optional,
                 const protocol::WorkerSnapshot& snapshot, Endpoint& endpoint, MemoryBroker* broker,
                 net::OwnedFd lease_socket)
    : hip_(hip),
      snapshot_(snapshot),
      endpoint_(endpoint),
      sender_(endpoint),
      own_calls_([this](hipError_t error, hipStream_t stream, int device) {
        tell_of_failure(error, stream, device);
      }),
      quota_(snapshot),
      foreign_quota_(snapshot),
      leases_(hip, optional.vmm, own_calls_, snapshot, addresses_, {quota_, foreign_quota_}),
      lease_files_(hip, own_calls_, std::move(lease_socket)),
      virtual_memory_(hip, own_calls_, snapshot, addresses_, {quota_, foreign_quota_}),
      host_window_(hip, own_calls_, snapshot, addresses_),
      shared_memory_(*this, snapshot, broker),
      device_regions_(*this, optional),
      callbacks_(sender_),
      modules_(hip, own_calls_, optional),
      graphs_(hip, own_calls_, addresses_, host_window_, objects_),
      copies_(*this),
      direct_copies_(*this),
      compiles_(*this, optional.rtc) {}

Session::~Session() {
  end({Code::kClosed, "session destroyed"});
  own_calls_.stop();
  if (mover_.joinable()) mover_.join();
  waiters_.stop();  // they use the objects
  release_objects();
}

// What the client left behind, when nothing uses it any more: staging and leases follow with the members.
void Session::release_objects() {
  for (int device = 0; device < device_count(); ++device)
    if (own_calls_.keep(use_device(device)) == hipSuccess) own_calls_.pass_on(hip_.hipDeviceSynchronize());
  graphs_.release();
  for (const Finishing& entry : finishing_) own_calls_.pass_on(hip_.hipStreamDestroy(entry.stream));
  objects_.for_each(HandleKind::kStream, [this](std::uint64_t, const Object& object) {
    own_calls_.pass_on(hip_.hipStreamDestroy(static_cast<hipStream_t>(object.object)));
  });
  objects_.for_each(HandleKind::kEvent, [this](std::uint64_t, const Object& object) {
    own_calls_.pass_on(hip_.hipEventDestroy(static_cast<hipEvent_t>(object.object)));
  });
  objects_.for_each(HandleKind::kModule, [this](std::uint64_t, const Object& object) {
    own_calls_.pass_on(hip_.hipModuleUnload(static_cast<hipModule_t>(object.object)));
  });
}

void Session::end(Status reason) {
  ending_.store(true, std::memory_order_release);  // pairs with ending()
  callbacks_.end();
  endpoint_.fail(std::move(reason));
}

Status Session::run() {
  mover_ = std::thread([this] { move_payload(); });
  Status status = serve();
  end(status.is_ok() ? Status(Code::kClosed, "the session has ended") : status);
  mover_.join();
  return status;
}

Status Session::serve() {
  while (!draining_.load(std::memory_order_acquire)) {  // pairs with drain()
    Status status = step();
    if (!status.is_ok()) return draining_.load(std::memory_order_relaxed) ? Status::ok() : status;
  }
  // Replies and payload that are on their way still go out, for a bounded time.
  const Deadline deadline = Deadline::after(kDrainTime);
  const auto nothing_pending = [&] {
    compiles_.sweep();
    return !copies_.pending() && !direct_copies_.pending() && short_waits_.empty() && !compiles_.sending();
  };
  wait_until([&] { return (nothing_pending() && sender_.flush()) || deadline.passed(); });
  return Status::ok();
}

// One round of the executor: replies first, then requests, then sleep.
Status Session::step() {
  if (ending()) return endpoint_.status().is_ok() ? Status(Code::kClosed, "ended") : endpoint_.status();
  copies_.progress();
  direct_copies_.collect();
  short_waits_.progress();
  if (!finishing_.empty()) sweep_finishing();
  if (compiles_.sending()) compiles_.sweep();
  if (!sender_.flush()) {
    Status waited = endpoint_.wait(Interest::kMessages, Deadline::after(kBacklogWait));
    if (!waited.is_ok() && waited.code() != Code::kTimeout) return waited;
    Result<std::size_t> driven = endpoint_.poll(*this, 0);
    if (!driven) return driven.status();
    std::this_thread::sleep_for(kPauseSleep);
    return Status::ok();
  }
  if (current_.exhausted()) {
    current_.clear();
    std::swap(current_, lookahead_);
  }
  if (current_.exhausted()) {
    Result<std::size_t> polled = endpoint_.poll(*this, kRequestBatchMax);
    if (!polled) return polled.status();
    if (*polled != 0) return Status::ok();
  }
  if (current_.exhausted() && !short_waits_.empty()) {
    std::this_thread::yield();  // to the stream's thread, if it waits for this processor
    return Status::ok();
  }
  if (current_.exhausted()) {
    const std::chrono::nanoseconds patience = copies_.pending() ? copies_.patience() : kIdleWait;
    Status waited = endpoint_.wait(Interest::kMessages, Deadline::after(patience));
    return waited.code() == Code::kTimeout ? Status::ok() : waited;
  }
  const Batch::Entry entry = current_.entries[current_.next++];
  execute(find_handler(entry.header.opcode).handler, entry.header, current_.payload(entry));
  return Status::ok();
}

// Inside poll(), where executing cannot poll again and the payload is the client's to change: what is prompt
// bears both and is executed here, unless something stands before it; of the rest a copy is taken.
Status Session::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  if (header.has(kFlagResponse)) return {Code::kProtocol, "the client sent a response"};
  const Dispatch dispatch = find_handler(header.opcode);
  // A lent copy is settled before anything else, which may wait.
  if (dispatch.is_prompt && !in_wait_ && current_.exhausted() && !direct_copies_.is_lent()) {
    execute(dispatch.handler, header, payload);
    return ending() ? endpoint_.status() : Status::ok();
  }
  (in_wait_ ? lookahead_ : current_).add(header, payload);
  // CallbackDone takes effect at once: what stands before it may wait for the stream that it holds up. It
  // touches nothing but that callback, and is harmless once more when its turn comes.
  protocol::CallbackDoneRequest request;
  if (header.opcode == static_cast<std::uint16_t>(protocol::CallbackDoneRequest::kOp) &&
      payload.size() == sizeof request) {
    std::memcpy(&request, payload.data(), sizeof request);
    callbacks_.done(request.cookie);
  }
  return Status::ok();
}

void Session::execute(Handler handler, const FrameHeader& header, std::span<const std::byte> payload) {
  Call call(*this, header, payload);
  if (handler == nullptr) {
    // An unknown opcode says nothing about whether it is waited for; its flags do.
    if (header.has(kFlagNoReply)) return fault(hipErrorNotSupported, header, 0);
    return call.reply(hipErrorNotSupported);
  }
  if (!begins_copy(header.opcode)) direct_copies_.settle();
  try {
    handler(call);
  } catch (const std::exception& error) {
    end({Code::kInternal, std::string("a request could not be executed: ") + error.what()});
  }
}

void Session::pause(unsigned round) {
  copies_.progress();
  short_waits_.progress();
  drive_bulk();
  look_ahead();
  sender_.flush();
  if (round < kSpinRounds) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kPauseSleep);
  }
}

void Session::look_ahead() {
  if (lookahead_.entries.size() >= kLookaheadMessagesMax || lookahead_.bytes.size() >= kLookaheadBytesMax)
    return;
  in_wait_ = true;
  Result<std::size_t> polled = endpoint_.poll(*this, kRequestBatchMax);
  in_wait_ = false;
  if (!polled) end(polled.status());
}

void Session::drive_bulk() {
  if (endpoint_.capabilities().steady_mover) return;
  std::unique_lock lock(mover_mutex_, std::try_to_lock);
  if (!lock) return;
  Result<std::size_t> moved = bulk().move_payload();
  if (!moved) end(moved.status());
}

void Session::move_payload() {
  if (endpoint_.capabilities().steady_mover) stay_on_this_processor();
  while (!ending()) {
    std::unique_lock lock(mover_mutex_);
    Result<std::size_t> moved = bulk().move_payload();
    lock.unlock();
    if (!moved) return end(moved.status());
    if (*moved != 0) continue;
    Status waited = endpoint_.wait(Interest::kBulk, Deadline::after(kIdleWait));
    if (!waited.is_ok() && waited.code() != Code::kTimeout) return end(std::move(waited));
  }
}

bool Session::host_addresses(std::uint64_t address, std::uint64_t bytes) const {
  const AddressMap::Range* range = addresses_.find(address, bytes);
  return range != nullptr && range->edge == AddressMap::Edge::kEnds && host_addresses_device(range->device);
}

bool Session::host_addresses_device(int device) const {
  // The first alone, a card behind a bus: reading its memory from here is slower than asking it to copy.
  const protocol::DeviceProperties& properties =
      snapshot_.devices[static_cast<std::size_t>(device)].properties;
  return properties.is_large_bar != 0 && properties.integrated != 0;
}

hipError_t Session::use_device(int device) {
  if (device == current_device_) return hipSuccess;
  if (device < 0 || device >= device_count()) return hipErrorInvalidDevice;
  const hipError_t error = hip_.hipSetDevice(device);
  current_device_ = error == hipSuccess ? device : -1;
  return error;
}

void Session::return_to_device(int device) {
  if (device >= 0) own_calls_.pass_on(use_device(device));
}

bool Session::find_stream(std::uint64_t raw, hipStream_t& stream, int& device) const {
  if (raw <= 1) {
    stream = nullptr;
    device = current_device_;
    return true;
  }
  const Object* object = objects_.find(HandleKind::kStream, raw);
  if (object == nullptr) return false;
  stream = static_cast<hipStream_t>(object->object);
  device = object->device;
  return true;
}

void Session::fault(hipError_t error, const FrameHeader& request, std::uint64_t stream) {
  protocol::FaultNotice fault{};
  fault.error = error;
  fault.failed_opcode = request.opcode;
  fault.failed_request_id = request.request_id;
  fault.device = request.device();
  fault.stream = stream;
  FrameHeader header;
  header.opcode = static_cast<std::uint16_t>(protocol::FaultNotice::kOp);
  header.flags = kFlagNoReply;
  sender_.send(header, std::as_bytes(std::span(&fault, 1)));
}

void Session::tell_of_failure(hipError_t error, hipStream_t stream, int device) {
  protocol::FaultNotice fault{};
  fault.error = error;
  fault.device =
      static_cast<std::uint32_t>(device == OwnCalls::kCurrent ? std::max(current_device_, 0) : device);
  // The client's name of the stream; a stream that it has destroyed is the null stream's business.
  objects_.for_each(HandleKind::kStream, [&](std::uint64_t raw, const Object& object) {
    if (stream != nullptr && object.object == stream) fault.stream = raw;
  });
  FrameHeader header;
  header.opcode = static_cast<std::uint16_t>(protocol::FaultNotice::kOp);
  header.flags = kFlagNoReply;
  sender_.send(header, std::as_bytes(std::span(&fault, 1)));
}

void Session::tell_device_failed(int device, hipError_t error, std::string_view what) {
  protocol::DeviceFailedNotice notice{};
  notice.error = error;
  notice.device = static_cast<std::uint32_t>(device);
  FrameHeader header;
  header.opcode = static_cast<std::uint16_t>(protocol::DeviceFailedNotice::kOp);
  header.flags = kFlagNoReply;
  sender_.send(header, std::as_bytes(std::span(&notice, 1)),
               std::as_bytes(std::span(what.substr(0, kFailureTextMax))));
}

hipError_t Session::let_finish(hipStream_t stream, int device) {
  const auto has_room = [this] {
    sweep_finishing();
    return finishing_.size() < kFinishingStreamsMax;
  };
  if (!wait_until(has_room)) return hipErrorUnknown;
  if (own_calls_.is_done(hip_.hipStreamQuery(stream), stream, device)) return hip_.hipStreamDestroy(stream);
  finishing_.push_back({stream, device});
  return hipSuccess;
}

void Session::sweep_finishing() {
  std::erase_if(finishing_, [this](const Finishing& entry) {
    if (!own_calls_.is_done(hip_.hipStreamQuery(entry.stream), entry.stream, entry.device)) return false;
    own_calls_.pass_on(hip_.hipStreamDestroy(entry.stream), nullptr, entry.device);
    return true;
  });
}

bool Session::device_idle(int device) {
  // A device that cannot be used runs nothing.
  if (own_calls_.keep(use_device(device), nullptr, device) != hipSuccess) return true;
  if (!own_calls_.is_done(hip_.hipStreamQuery(nullptr), nullptr, device)) return false;
  sweep_finishing();
  for (const Finishing& entry : finishing_)
    if (entry.device == device) return false;
  bool idle = true;
  objects_.for_each(HandleKind::kStream, [&](std::uint64_t, const Object& object) {
    if (!idle || object.device != device) return;
    const auto stream = static_cast<hipStream_t>(object.object);
    idle = own_calls_.is_done(hip_.hipStreamQuery(stream), stream, device);
  });
  return idle;
}

bool Session::wait_device_idle(int device) {
  const int before = current_device_;
  const bool idle = wait_until([&] { return device_idle(device); });
  return_to_device(before);
  return idle;
}

bool Session::wait_all_idle() {
  for (int device = 0; device < device_count(); ++device)
    if (!wait_device_idle(device)) return false;
  return true;
}

}  // namespace tf::worker
