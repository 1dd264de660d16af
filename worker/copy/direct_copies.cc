// SPDX-License-Identifier: Apache-2.0
// Copies between the bulk plane and device memory without staging.
#include "worker/copy/direct_copies.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "transport/base/deadline.h"
#include "worker/base/notices.h"
#include "worker/copy/slot_copies.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

// When the next request comes the rest of a copy is mostly in the socket already, and a gate costs a wake-up
// of the stream's thread.
constexpr auto kSettleTime = 2ms;
constexpr auto kGatePauseMin = std::chrono::microseconds(20us);
constexpr auto kGatePauseMax = std::chrono::microseconds(500us);

}  // namespace

bool DirectCopies::Batch::ended() const {
  return std::all_of(transfers.begin(), transfers.end(),
                     [](const Transfer& transfer) { return transfer.completion.done(); });
}

bool DirectCopies::Batch::uses(std::uint64_t address, std::uint64_t bytes) const {
  return std::any_of(transfers.begin(), transfers.end(), [=](const Transfer& transfer) {
    const auto begin = reinterpret_cast<std::uintptr_t>(transfer.memory.data());
    const bool overlaps = begin - address < bytes || address - begin < transfer.memory.size();
    return overlaps && !transfer.completion.done();
  });
}

DirectCopies::~DirectCopies() {
  // The endpoint has failed: transfers end, but perhaps not yet. Until then the transport owns the memory.
  if (lent_ != nullptr) gated_.push_back(std::move(lent_));
  for (const std::shared_ptr<Batch>& batch : gated_)
    while (!batch->ended()) std::this_thread::sleep_for(1ms);
  for (hipEvent_t event : events_)
    if (event != nullptr) parts_.own_calls.pass_on(parts_.hip.hipEventDestroy(event));
}

// Marks the stream's end and checks whether the stream has reached it. That covers what a stream waits for
// implicitly. If the mark cannot be made, that is not a failure of the work: hipErrorNotReady.
hipError_t DirectCopies::reached(StreamRef stream) {
  const auto index = static_cast<std::size_t>(stream.device);
  if (events_.size() <= index) events_.resize(index + 1);
  hipEvent_t& event = events_[index];
  const protocol::HipTable& hip = parts_.hip;
  hipError_t error = hipSuccess;
  if (event == nullptr) {
    error = hip.hipEventCreateWithFlags(&event, hipEventDisableTiming);
    if (error != hipSuccess) event = nullptr;
  }
  if (error == hipSuccess) error = hip.hipEventRecord(event, stream.stream);
  if (error == hipSuccess) return hip.hipEventQuery(event);
  return is_of_earlier_work(error) ? error : hipErrorNotReady;
}

// The bytes of a copy before could land on those of this one.
bool DirectCopies::would_mix(Way way, std::uint64_t address, std::uint64_t bytes) const {
  return way == Way::kToDevice && !parts_.bulk.fills_in_order() && lent_->uses(address, bytes);
}

hipError_t DirectCopies::start(const Order& order, StreamRef stream) {
  const auto address = reinterpret_cast<std::uintptr_t>(order.memory.data());
  const bool goes_on = lent_ != nullptr && lent_->stream == stream.stream && lent_->device == stream.device &&
                       lent_->way == order.way && !would_mix(order.way, address, order.memory.size());
  const bool in_reach =
      parts_.host_reach.reaches(address, order.memory.size()) || parts_.bulk.reaches(order.memory);
  if (!goes_on || !in_reach) {
    settle();
    if (!in_reach) return hipErrorNotReady;
    if (const hipError_t error = reached(stream); error != hipSuccess) return error;
    lent_ = std::make_shared<Batch>(Batch{stream.stream, stream.device, order.way, {}, {}});
  }
  Batch& batch = *lent_;
  if (order.way == Way::kToDevice) parts_.regions.note_writes(address, order.memory.size(), batch.to_flush);
  forget_ended(batch);
  if (batch.transfers.size() >= kDirectPendingMax &&
      !parts_.life.wait_until([&] { return batch.transfers.front().completion.done(); }))
    return hipSuccess;  // the session ends
  Transfer& transfer = batch.transfers.emplace_back();
  transfer.memory = order.memory;
  transfer.request = order.request;
  transfer.raw_stream = order.raw_stream;
  if (parts_.executions.on()) [[unlikely]] {
    transfer.begun_ns = Executions::now_ns();
    parts_.mover.note_end(transfer.completion, transfer.ended_ns);
  }
  const Status started = order.way == Way::kToDevice
                             ? parts_.bulk.receive(order.tag, order.memory, transfer.completion)
                             : parts_.bulk.send(order.tag, order.memory, transfer.completion);
  if (started.is_ok()) return hipSuccess;
  parts_.mover.forget(transfer.completion);
  batch.transfers.pop_back();
  parts_.life.end(started);
  return hipSuccess;
}

void DirectCopies::flush(Batch& batch) {
  for (const int device : batch.to_flush)
    if (!parts_.regions.flush(device))
      parts_.life.end({Code::kInternal, "cannot make the transport's writes visible to the device"});
  batch.to_flush.clear();
}

void DirectCopies::gate(hipStream_t, hipError_t, void* argument) {
  const std::unique_ptr<std::shared_ptr<Batch>> batch(static_cast<std::shared_ptr<Batch>*>(argument));
  for (auto pause = kGatePauseMin; !(*batch)->ended(); pause = std::min(pause * 2, kGatePauseMax))
    std::this_thread::sleep_for(pause);
}

void DirectCopies::settle_lent() {
  const std::shared_ptr<Batch> batch = std::exchange(lent_, nullptr);
  const Deadline patience = Deadline::after(kSettleTime);
  // Copies that must be flushed are waited for: work behind a gate begins before anybody could flush.
  const bool may_gate = batch->to_flush.empty();
  const bool alive =
      parts_.life.wait_until([&] { return batch->ended() || (may_gate && patience.passed()); });
  if (alive && batch->ended()) {
    flush(*batch);
    return forget_ended(*batch);
  }
  gated_.push_back(batch);
  if (!alive) return;
  const int before = parts_.device.get();
  auto held = std::make_unique<std::shared_ptr<Batch>>(batch);
  hipError_t error = parts_.device.use(batch->device);
  if (error == hipSuccess)
    error = parts_.hip.hipStreamAddCallback(batch->stream, &DirectCopies::gate, held.get(), 0);
  if (parts_.own_calls.keep(error, batch->stream, batch->device) == hipSuccess) {
    held.release();  // gate() takes it back
  } else {
    static_cast<void>(parts_.life.wait_until([&] { return batch->ended(); }));
  }
  parts_.device.return_to(before);
}

// For a client that traces.
void DirectCopies::note(const Batch& batch, const Transfer& transfer) {
  parts_.mover.forget(transfer.completion);
  parts_.executions.note({transfer.begun_ns, std::max(transfer.begun_ns, transfer.ended_ns),
                          transfer.raw_stream, transfer.memory.size(), transfer.request.request_id,
                          transfer.request.opcode, static_cast<std::uint16_t>(batch.device)});
}

void DirectCopies::report(const Batch& batch, const Transfer& transfer) {
  if (transfer.begun_ns != 0) [[unlikely]]
    note(batch, transfer);
  const Status& status = transfer.completion.status();
  if (!status.is_ok())
    send_fault(parts_.sender, transfer.request, transfer_error(status), transfer.raw_stream);
}

// REQUIRES: no gate looks at the batch.
void DirectCopies::forget_ended(Batch& batch) {
  while (!batch.transfers.empty() && batch.transfers.front().completion.done()) {
    report(batch, batch.transfers.front());
    batch.transfers.pop_front();
  }
}

void DirectCopies::collect() {
  if (lent_ != nullptr && parts_.executions.on()) [[unlikely]]
    forget_ended(*lent_);
  std::erase_if(gated_, [this](const std::shared_ptr<Batch>& batch) {
    if (!batch->ended()) return false;
    for (const Transfer& transfer : batch->transfers) report(*batch, transfer);
    return true;
  });
}

bool DirectCopies::uses(std::uint64_t address, std::uint64_t bytes) const {
  return (lent_ != nullptr && lent_->uses(address, bytes)) ||
         std::any_of(gated_.begin(), gated_.end(),
                     [=](const std::shared_ptr<Batch>& batch) { return batch->uses(address, bytes); });
}

bool DirectCopies::let_go(std::uint64_t address, std::uint64_t bytes) {
  if (!parts_.life.wait_until([&] { return !uses(address, bytes); })) return false;
  parts_.regions.remove(address, bytes);
  return true;
}

bool DirectCopies::pending() {
  collect();
  return !gated_.empty() || (lent_ != nullptr && !lent_->ended());
}

}  // namespace tf::worker
