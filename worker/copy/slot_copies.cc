// SPDX-License-Identifier: Apache-2.0
// Copies through staging slots: receiving and sending.
#include "worker/copy/slot_copies.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "transport/base/spin.h"
#include "worker/copy/array_copies.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kDiscardsMax = 1024;
// The pieces that one copy from the device may have under way: those that the device fills, and one for each
// lane. More would only keep slots from resting (Reuse::kLate).
constexpr std::size_t kOutgoingFilling = 4;
constexpr std::size_t kOutgoingMin = 10;
constexpr std::size_t kOutgoingMax = kLargeSlots - 2;  // some are left for others
constexpr std::size_t kDrainingSlots = 2;              // that the device reads just now
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kPartBytesMin = 256 << 10;  // each part costs two calls of the runtime
constexpr auto kPatienceMin = std::chrono::nanoseconds(10us);
constexpr auto kSoon = 100us;  // the device takes 12 us for 256 KiB
constexpr auto kPatienceMax = std::chrono::nanoseconds(500us);

std::uint64_t part_bytes(std::uint64_t bytes, std::uint64_t parts) {
  const std::uint64_t pages = (bytes + parts * kPageBytes - 1) / (parts * kPageBytes);
  return std::clamp<std::uint64_t>(pages * kPageBytes, kPartBytesMin, kLargeSlotBytes);
}

// A short copy goes in quarters: the device copies one while the next one is on its way.
std::uint64_t piece_bytes(std::uint64_t bytes) { return part_bytes(bytes, 4); }

}  // namespace

hipError_t transfer_error(const Status& status) {
  const std::uint32_t reason = abort_reason(status);
  return reason != 0 ? static_cast<hipError_t>(reason) : hipErrorUnknown;
}

SlotCopies::SlotCopies(const protocol::HipTable& hip, OwnCalls& own_calls, BulkPlane& bulk, Life& life,
                       Mover& mover, const Arrays& arrays, DeviceMemory device)
    : hip_(hip),
      own_calls_(own_calls),
      bulk_(bulk),
      life_(life),
      mover_(mover),
      arrays_(arrays),
      device_(device),
      staging_(hip, own_calls, bulk, device),
      deliveries_(staging_, bulk, life),
      patience_(kPatienceMin) {}

StagingSlots::Slot* SlotCopies::acquire(std::size_t bytes, Reuse reuse, hipError_t& error) {
  StagingSlots::Slot* slot = nullptr;
  const bool alive = life_.wait_until([&] {
    slot = staging_.acquire(bytes, reuse, error);
    return slot != nullptr || error != hipSuccess;
  });
  if (!alive) error = hipErrorUnknown;
  return slot;
}

hipError_t SlotCopies::finish(StreamRef stream) {
  hipError_t error = hipErrorNotReady;
  life_.wait_until([&] {
    error = hip_.hipStreamQuery(stream.stream);
    return error != hipErrorNotReady;
  });
  return error;
}

// Slice by slice: the three-dimensional call requires slices that are whole numbers of rows apart.
hipError_t SlotCopies::copy_in_stream(const Box& box, hipMemcpyKind kind, StreamRef stream) {
  if (box.is_empty()) return hipSuccess;
  if (names_array(box)) return copy_array_in_stream(hip_, life_, arrays_, box, kind, stream.stream);
  if (box.is_line())
    return hip_.hipMemcpyAsync(box.target.memory(), box.source.memory(), box.width, kind, stream.stream);
  hipError_t error = hipSuccess;
  for (std::uint64_t slice = 0; error == hipSuccess && slice < box.depth; ++slice) {
    if (life_.ending()) return hipErrorUnknown;  // there may be many
    // With one row the pitch does not count, but the runtime insists on a pitch that is wide enough.
    error = hip_.hipMemcpy2DAsync(
        box.target.memory() + slice * box.target.slice, std::max(box.target.pitch, box.width),
        box.source.memory() + slice * box.source.slice, std::max(box.source.pitch, box.width), box.width,
        box.height, kind, stream.stream);
  }
  return error;
}

// Copies one received chunk to the device, unless something has failed before.
hipError_t SlotCopies::land(const Incoming& incoming, StreamRef stream, hipError_t so_far) {
  StagingSlots::Slot* slot = incoming.slot;
  if (!life_.wait_until([&] { return slot->transfer->done(); })) return hipErrorUnknown;  // slot stays out
  Box piece = incoming.piece;
  piece.source = packed_at(graph::address_of(slot->memory().data()), piece);
  hipError_t error = so_far;
  if (error == hipSuccess && !slot->transfer->status().is_ok())
    error = transfer_error(slot->transfer->status());
  if (error == hipSuccess) {
    error = copy_in_stream(piece, hipMemcpyHostToDevice, stream);
    if (error != hipSuccess && !piece.is_line())  // some slices may be in flight
      own_calls_.pass_on(finish(stream), stream.stream, stream.device);
  }
  if (error == hipSuccess && own_calls_.keep(staging_.record(slot, stream.stream, stream.device),
                                             stream.stream, stream.device) == hipSuccess) {
    staging_.release_when_done(slot);
    return hipSuccess;
  }
  // Without an event the slot is only free for certain when everything is done.
  if (error == hipSuccess) error = finish(stream);
  if (life_.ending()) return hipErrorUnknown;  // slot stays out
  staging_.release(slot);
  return error;
}

// What lanes receive stays in their caches, where a device reads it at half its rate: 1 MiB in 40 us, in 22
// once as much again has come to each of six lanes (H200, PCIe Gen5). So a long copy gives the device what
// came a MiB a lane ago, as far as slots go: each lane has one that it fills.
std::size_t SlotCopies::pieces_behind(const Box& box, std::uint64_t bytes) const {
  const std::size_t lanes = bulk_.lanes();
  const bool cached = device_ == DeviceMemory::kBehindBus && box.is_line() && !bulk_.streams(bytes);
  if (!cached || lanes < 2 || lanes >= kLargeSlots - kDrainingSlots) return 0;
  return std::min(lanes, kLargeSlots - kDrainingSlots - lanes);
}

// Waits until so many pieces behind the first one have come. At the end of the copy they are fewer, since no
// more will come.
void SlotCopies::await_behind(const std::deque<Incoming>& receiving, std::size_t behind) {
  const std::size_t last = std::min(behind, receiving.size() / 2);
  if (last != 0) life_.wait_until([&] { return receiving[last].slot->transfer->done(); });
}

hipError_t SlotCopies::to_device(const Box& box, StreamRef stream, std::uint64_t tag) {
  const auto bytes = packed_bytes(box);
  if (!bytes) return hipErrorInvalidValue;
  std::uint64_t unasked = *bytes;
  hipError_t error = hipSuccess;
  std::deque<Incoming> receiving;
  graph::BoxPieces pieces(box, piece_bytes(*bytes));
  const std::size_t behind = pieces_behind(box, *bytes);
  std::optional<Box> piece = pieces.next();
  while (!life_.ending() && (!receiving.empty() || (piece && error == hipSuccess))) {
    // Keep as many receives posted as there are slots; block for a slot only when nothing else is to do.
    while (piece && error == hipSuccess) {
      StagingSlots::Slot* slot = receiving.empty() ? acquire(piece->bytes(), Reuse::kSoon, error)
                                                   : staging_.acquire(piece->bytes(), Reuse::kSoon, error);
      if (slot == nullptr) break;
      slot->transfer.emplace();
      const Status posted = bulk_.receive(tag, slot->memory().first(piece->bytes()), *slot->transfer);
      if (!posted.is_ok()) {
        staging_.release(slot);
        life_.end(posted);
        return hipErrorUnknown;
      }
      unasked -= piece->bytes();
      receiving.push_back({slot, *piece});
      piece = pieces.next();
    }
    if (receiving.empty()) break;
    await_behind(receiving, behind);
    error = land(receiving.front(), stream, error);
    receiving.pop_front();
  }
  if (unasked != 0) discard(tag, unasked);
  return error;
}

hipError_t SlotCopies::in_turn(const Box& piece, StreamRef stream, const Stop& stop) {
  hipError_t error = hipSuccess;
  StagingSlots::Slot* slot = acquire(static_cast<std::size_t>(piece.bytes()), Reuse::kSoon, error);
  if (slot == nullptr) return error;
  error = stop(slot->memory().first(static_cast<std::size_t>(piece.bytes())));
  if (error != hipSuccess) {
    staging_.release(slot);
    return error;
  }
  Box packed = piece;
  packed.source = packed_at(graph::address_of(slot->memory().data()), piece);
  error = copy_in_stream(packed, hipMemcpyHostToDevice, stream);
  if (error == hipSuccess && own_calls_.keep(staging_.record(slot, stream.stream, stream.device),
                                             stream.stream, stream.device) == hipSuccess) {
    staging_.release_when_done(slot);
    return hipSuccess;
  }
  // The payload still comes. If the stream does not say that it has, the slot stays out.
  const hipError_t passed = own_calls_.keep(finish(stream), stream.stream, stream.device);
  if (passed == hipSuccess) staging_.release(slot);
  return error;
}

hipError_t SlotCopies::inline_to_device(std::uint64_t target, std::span<const std::byte> payload,
                                        StreamRef stream) {
  if (payload.empty()) return hipSuccess;
  hipError_t error = hipSuccess;
  StagingSlots::Slot* slot = acquire(payload.size(), Reuse::kSoon, error);
  if (slot == nullptr) return error;
  std::memcpy(slot->memory().data(), payload.data(), payload.size());
  slot->transfer.emplace();
  slot->transfer->complete(Status::ok());
  return land({slot, graph::line(target, 0, payload.size())}, stream, hipSuccess);
}

std::size_t SlotCopies::outgoing_max() const {
  return std::clamp<std::size_t>(bulk_.lanes() + kOutgoingFilling, kOutgoingMin, kOutgoingMax);
}

// The client has posted receives for all of a line before it asks for it; of other boxes, some at a time. So
// only a line's first slot is announced before it is filled.
hipError_t SlotCopies::from_device(const Box& box, StreamRef stream, std::uint64_t tag) {
  const std::uint64_t bytes = packed_bytes(box).value_or(0);
  const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kLargeSlotBytes));
  bool ahead = box.is_line() && !names_array(box) && bulk_.can_send_filling(first);
  graph::BoxPieces pieces(box, ahead ? kLargeSlotBytes : piece_bytes(bytes));
  const std::size_t most = outgoing_max();
  hipError_t error = hipSuccess;
  for (auto piece = pieces.next(); piece && error == hipSuccess; piece = pieces.next()) {
    if (!life_.wait_until([&] { return deliveries_.under_way(tag) < most; })) return hipErrorUnknown;
    error = std::exchange(ahead, false) ? deliver_ahead(*piece, stream, tag) : deliver(*piece, stream, tag);
  }
  if (error != hipSuccess) deliveries_.fail(tag, error);
  return error;
}

// Has the device copy a part of what goes into the slot. Afterwards it writes nothing if that fails.
hipError_t SlotCopies::order(Box piece, StagingSlots::Slot* slot, std::size_t part, StreamRef stream) {
  hipError_t error = copy_in_stream(piece, hipMemcpyDeviceToHost, stream);
  if (error == hipSuccess) error = staging_.record(slot, stream.stream, stream.device, part);
  if (error != hipSuccess) own_calls_.pass_on(finish(stream), stream.stream, stream.device);
  return error;
}

hipError_t SlotCopies::deliver(const Box& piece, StreamRef stream, std::uint64_t tag) {
  hipError_t error = hipSuccess;
  StagingSlots::Slot* slot = acquire(piece.bytes(), Reuse::kLate, error);
  if (slot == nullptr) return error;
  Box packed = piece;
  packed.target = packed_at(graph::address_of(slot->memory().data()), piece);
  error = order(packed, slot, 0, stream);
  if (error == hipSuccess) {
    deliveries_.add({slot, piece.bytes(), tag});
    note_move();
  } else if (!life_.ending()) {
    staging_.release(slot);
  }
  return error;
}

// In thirds, the first of which keeps several lanes busy. The client learns of all of it while the device
// copies that one.
hipError_t SlotCopies::deliver_ahead(const Box& line, StreamRef stream, std::uint64_t tag) {
  hipError_t error = hipSuccess;
  StagingSlots::Slot* slot = acquire(line.bytes(), Reuse::kLate, error);
  if (slot == nullptr) return error;
  const auto third = static_cast<std::size_t>(part_bytes(line.bytes(), kSlotParts));
  std::size_t there = 0;
  for (std::size_t part = 0; there < line.bytes(); ++part) {
    const std::size_t bytes = std::min(third, line.bytes() - there);
    const std::uint64_t target = graph::address_of(slot->memory().data()) + there;
    error = order(graph::line(target, line.source.address + there, bytes), slot, part, stream);
    if (error != hipSuccess) break;
    there += bytes;
    if (part != 0)
      deliveries_.extend(slot);
    else if (!announce({slot, line.bytes(), tag, third}))
      return hipErrorUnknown;
  }
  if (there == 0 && !life_.ending()) staging_.release(slot);
  return error;
}

bool SlotCopies::announce(const Deliveries::Piece& piece) {
  StagingSlots::Slot* const slot = piece.slot;
  slot->transfer.emplace();
  slot->filling.emplace();
  const Status sent =
      bulk_.send_filling(piece.tag, slot->memory().first(piece.bytes), *slot->filling, *slot->transfer);
  if (!sent.is_ok()) {
    life_.end(sent);
    return false;
  }
  deliveries_.add(piece);
  note_move();
  mover_.drive();
  return true;
}

void SlotCopies::abort(std::uint64_t tag, hipError_t error) {
  const Status aborted = bulk_.abort(tag, static_cast<std::uint32_t>(error));
  if (!aborted.is_ok()) life_.end(aborted);
}

void SlotCopies::discard(std::uint64_t tag, std::uint64_t bytes) {
  discards_.remove_if([](const BulkCompletion& completion) { return completion.done(); });
  if (discards_.size() >= kDiscardsMax)
    return life_.end({Code::kResourceExhausted, "too many failed copies with outstanding payload"});
  discards_.emplace_back();
  const Status posted = bulk_.discard(tag, bytes, discards_.back());
  if (posted.is_ok()) return;
  discards_.pop_back();
  life_.end(posted);
}

hipError_t SlotCopies::receive(std::uint64_t tag, std::span<std::byte> target) {
  // On the heap and left there if the session ends first: the transport may still write to it.
  auto transfer = std::make_unique<BulkCompletion>();
  const Status posted = bulk_.receive(tag, target, *transfer);
  if (!posted.is_ok()) {
    life_.end(posted);
    return hipErrorUnknown;
  }
  if (!life_.wait_until([&] { return transfer->done(); })) {
    while (!transfer->done()) std::this_thread::sleep_for(1ms);  // the endpoint has failed: it will complete
    return hipErrorUnknown;
  }
  return transfer->status().is_ok() ? hipSuccess : transfer_error(transfer->status());
}

void SlotCopies::progress() {
  if (!deliveries_.pending()) return;
  looks_.fetch_add(1, std::memory_order_relaxed);  // only compared
  const Deliveries::Progress progress =
      deliveries_.progress([this](StagingSlots::Slot* slot) { staging_.release(slot); });
  if (!progress.moved) {
    patience_ = std::min(patience_ * 2, kPatienceMax);
    return;
  }
  note_move();
  if (progress.sent) mover_.drive();
}

void SlotCopies::note_move() {
  patience_ = kPatienceMin;
  moved_ = Clock::now();
}

// In a crowd others would run meanwhile.
bool SlotCopies::expects_soon() const {
  return deliveries_.pending() && !CrowdSign::is_up() && Clock::now() - moved_ < kSoon;
}

void SlotCopies::help() {
  const std::uint64_t looks = looks_.load(std::memory_order_relaxed);
  if (std::exchange(looks_seen_, looks) == looks && deliveries_.pending()) (void)deliveries_.send_ready();
}

}  // namespace tf::worker
