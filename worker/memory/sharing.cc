// SPDX-License-Identifier: Apache-2.0
// Offers memory and events to other sessions, and takes theirs, over the supervisor.
#include "worker/memory/sharing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "worker/base/channel.h"
#include "worker/memory/import_form.h"
#include "worker/memory/pointer_to.h"

namespace tf::worker {
namespace {

constexpr std::chrono::seconds kAnswerTime{5};

}  // namespace

hipError_t Sharing::ask(Status asked, ChannelMessage& answer) {
  if (!asked.is_ok()) return hipErrorOperatingSystem;
  const Deadline deadline = Deadline::after(kAnswerTime);
  if (!parts_.life.wait_until([&] { return broker_->answered() || deadline.passed(); }))
    return hipErrorUnknown;
  if (!broker_->answered()) return hipErrorOperatingSystem;
  answer = broker_->take();
  return hipSuccess;
}

bool Sharing::known(SharedPiece::Kind kind, std::uint64_t of, net::Token& name) const {
  const auto found = std::find_if(shared_.begin(), shared_.end(), [&](const auto& entry) {
    return entry.second.kind == kind && entry.second.of == of;
  });
  if (found != shared_.end()) name = found->first;
  return found != shared_.end();
}

hipError_t Sharing::offer(const SharedPiece& piece, net::OwnedFd memory, std::uint64_t of, net::Token& name) {
  if (shared_.size() >= kOffersPerSessionMax) return hipErrorOutOfMemory;
  Result<net::Token> random = net::Token::random();
  if (!random) return hipErrorOperatingSystem;
  ChannelMessage answer;
  const hipError_t asked = ask(broker_->offer(*random, piece, std::move(memory)), answer);
  if (asked != hipSuccess) return asked;
  if (answer.piece.kind == SharedPiece::Kind::kNone) return hipErrorOutOfMemory;  // the supervisor is full
  name = *random;
  shared_.emplace(name, Shared{piece.kind, of});
  return hipSuccess;
}

hipError_t Sharing::share(hipMemGenericAllocationHandle_t memory, const SharedPiece& piece, std::uint64_t of,
                          net::Token& name) {
  int descriptor = -1;
  const hipError_t error =
      parts_.hip.hipMemExportToShareableHandle(&descriptor, memory, hipMemHandleTypePosixFileDescriptor, 0);
  return error != hipSuccess ? error : offer(piece, net::OwnedFd(descriptor), of, name);
}

hipError_t Sharing::share_event(std::uint64_t raw, net::Token& name) {
  if (broker_ == nullptr) return hipErrorNotSupported;
  const Object* object = parts_.objects.find(protocol::HandleKind::kEvent, raw);
  if (object == nullptr) return hipErrorInvalidHandle;
  if (known(SharedPiece::Kind::kEvent, raw, name)) return hipSuccess;
  hipIpcEventHandle_t ticket{};
  auto* const event = static_cast<hipEvent_t>(object->object);
  int file = -1;
  const hipError_t error = parts_.optional.shares_events()
                               ? parts_.optional.share_event(&ticket, &file, event)
                               : parts_.hip.hipIpcGetEventHandle(&ticket, event);
  if (error != hipSuccess) return error;
  SharedPiece piece;
  piece.kind = SharedPiece::Kind::kEvent;
  piece.device = object->device;
  static_assert(sizeof ticket.reserved == sizeof piece.ticket);
  std::memcpy(piece.ticket.data(), ticket.reserved, sizeof ticket.reserved);
  return offer(piece, net::OwnedFd(file), raw, name);
}

hipError_t Sharing::share_lease(std::uint64_t address, std::uint64_t bytes, net::Token& name) {
  if (broker_ == nullptr) return hipErrorNotSupported;
  SharedPiece piece;
  std::uint64_t lease = 0;
  hipMemGenericAllocationHandle_t memory{};
  if (!parts_.leases.find(address, bytes, lease, memory, piece)) return hipErrorInvalidDevicePointer;
  if (piece.kind == SharedPiece::Kind::kAllocation) return share_allocation(piece, lease, name);
  return parts_.snapshot.memory_shared == 0 ? hipErrorNotSupported : share(memory, piece, lease, name);
}

hipError_t Sharing::share_allocation(SharedPiece piece, std::uint64_t lease, net::Token& name) {
  if (const hipError_t error = parts_.device.use(piece.device)) return error;
  hipIpcMemHandle_t ticket{};
  if (const hipError_t error = parts_.hip.hipIpcGetMemHandle(&ticket, pointer_to(lease))) return error;
  static_assert(sizeof ticket.reserved == sizeof piece.ticket);
  std::memcpy(piece.ticket.data(), ticket.reserved, sizeof ticket.reserved);
  return offer(piece, net::OwnedFd(), lease, name);
}

hipError_t Sharing::share_physical(std::uint64_t raw, net::Token& name) {
  if (broker_ == nullptr || parts_.snapshot.memory_shared == 0) return hipErrorNotSupported;
  if (known(SharedPiece::Kind::kPhysical, raw, name)) return hipSuccess;
  SharedPiece piece;
  hipMemGenericAllocationHandle_t memory{};
  if (!parts_.physical.find(raw, memory, piece)) return hipErrorInvalidValue;
  return share(memory, piece, raw, name);
}

// Waits for the answer: a client that learns that the memory is gone may ask the supervisor, through another
// session, before this session's message is read.
hipError_t Sharing::withdraw(const net::Token& name) {
  if (shared_.erase(name) == 0) return hipErrorInvalidValue;
  ChannelMessage answer;
  return ask(broker_->withdraw(name), answer);
}

void Sharing::withdraw_of(SharedPiece::Kind kind, std::uint64_t of) {
  const auto match = [&](const auto& entry) { return entry.second.kind == kind && entry.second.of == of; };
  auto entry = std::find_if(shared_.begin(), shared_.end(), match);
  for (; entry != shared_.end(); entry = std::find_if(shared_.begin(), shared_.end(), match)) {
    const net::Token name = entry->first;
    static_cast<void>(withdraw(name));
  }
}

void Sharing::withdraw_lease(std::uint64_t address) {
  withdraw_of(SharedPiece::Kind::kLease, address);
  withdraw_of(SharedPiece::Kind::kAllocation, address);
}

void Sharing::withdraw_physical(std::uint64_t raw) { withdraw_of(SharedPiece::Kind::kPhysical, raw); }

void Sharing::withdraw_event(std::uint64_t raw) { withdraw_of(SharedPiece::Kind::kEvent, raw); }

hipError_t Sharing::ask_for(const net::Token& name, std::initializer_list<SharedPiece::Kind> kinds,
                            ChannelMessage& answer) {
  if (broker_ == nullptr) return hipErrorNotSupported;
  const hipError_t asked = ask(broker_->want(name), answer);
  if (asked != hipSuccess) return asked;
  const SharedPiece& piece = answer.piece;
  // The other session's process may be under its client's control: trust nothing it says.
  const bool sane = std::ranges::count(kinds, piece.kind) != 0 && piece.bytes != 0 && piece.device >= 0 &&
                    static_cast<std::size_t>(piece.device) < parts_.snapshot.devices.size() &&
                    piece.first <= piece.whole_bytes && piece.bytes <= piece.whole_bytes - piece.first;
  return sane ? parts_.device.use(piece.device) : hipErrorInvalidDevicePointer;
}

hipError_t Sharing::fetch(const ChannelMessage& answer, hipMemGenericAllocationHandle_t& memory) {
  if (parts_.snapshot.memory_shared == 0) return hipErrorNotSupported;
  if (!answer.connection) return hipErrorInvalidDevicePointer;
  return import_physical(parts_.hip, answer.connection.get(), memory);
}

// NVIDIA's driver lets the device use it that is current then. AMD's runtime lets all that reach it, and
// its 5.2.3 crashes where that of the memory is not current.
hipError_t Sharing::open_allocation(const SharedPiece& piece, int device, std::uint64_t& address) {
  const int current = parts_.optional.is_ours() ? device : piece.device;
  if (const hipError_t error = parts_.device.use(current)) return error;
  hipIpcMemHandle_t ticket{};
  std::memcpy(ticket.reserved, piece.ticket.data(), sizeof ticket.reserved);
  return parts_.leases.adopt_allocation(ticket, piece, current, address);
}

hipError_t Sharing::open(const net::Token& name, int device, std::uint64_t& address, SharedPiece& piece) {
  using Kind = SharedPiece::Kind;
  ChannelMessage answer;
  if (const hipError_t error = ask_for(name, {Kind::kLease, Kind::kAllocation}, answer)) return error;
  piece = answer.piece;
  if (piece.kind == Kind::kAllocation) return open_allocation(piece, device, address);
  hipMemGenericAllocationHandle_t memory{};
  const hipError_t error = fetch(answer, memory);
  return error != hipSuccess ? error : parts_.leases.adopt(memory, piece, address);
}

hipError_t Sharing::open_event(const net::Token& name, hipEvent_t& event, int& device) {
  if (broker_ == nullptr) return hipErrorNotSupported;
  if (shared_.contains(name)) return hipErrorInvalidContext;
  ChannelMessage answer;
  hipError_t error = ask(broker_->want(name), answer);
  if (error != hipSuccess) return error;
  device = answer.piece.device;
  if (answer.piece.kind != SharedPiece::Kind::kEvent) return hipErrorInvalidValue;
  error = parts_.device.use(device);
  if (error != hipSuccess) return error;
  hipIpcEventHandle_t ticket{};
  std::memcpy(ticket.reserved, answer.piece.ticket.data(), sizeof ticket.reserved);
  if (answer.connection) {
    if (!parts_.optional.shares_events()) return hipErrorInvalidValue;
    return parts_.optional.open_shared_event(&event, ticket, answer.connection.get());
  }
  return parts_.hip.hipIpcOpenEventHandle(&event, ticket);
}

hipError_t Sharing::import(const net::Token& name, std::uint64_t raw, SharedPiece& piece) {
  if (parts_.snapshot.memory_shared == 0) return hipErrorNotSupported;
  ChannelMessage answer;
  if (const hipError_t error = ask_for(name, {SharedPiece::Kind::kPhysical}, answer)) return error;
  piece = answer.piece;
  hipMemGenericAllocationHandle_t memory{};
  const hipError_t error = fetch(answer, memory);
  return error != hipSuccess ? error : parts_.physical.adopt(raw, memory, piece);
}

}  // namespace tf::worker
