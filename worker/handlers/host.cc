// SPDX-License-Identifier: Apache-2.0
// Host memory that devices use at the client's addresses. Executor thread.
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "transport/base/deadline.h"
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

constexpr std::chrono::seconds kFileTime{2};

using mirror::Piece;

// The client may change the bytes meanwhile: they are copied first, then checked.
std::vector<Piece> pieces_in(std::span<const std::byte> bytes) {
  std::vector<Piece> pieces(bytes.size() / sizeof(Piece));
  std::memcpy(pieces.data(), bytes.data(), pieces.size() * sizeof(Piece));
  return pieces;
}

// Receives the next of the payload into the pieces. The executor waits for it: the next request may use them.
hipError_t receive(SlotCopies& copies, HostMirror& mirror, std::uint64_t tag, std::span<const Piece> pieces) {
  std::vector<std::byte> gathered;
  while (!pieces.empty()) {
    const mirror::Batch batch = mirror::next_batch(pieces);
    if (batch.gathered) gathered.resize(batch.bytes);
    const hipError_t error =
        copies.receive(tag, batch.gathered ? std::span(gathered) : pieces.front().memory());
    if (error != hipSuccess) return error;
    if (batch.gathered && !mirror.put(pieces.first(batch.pieces), gathered)) return hipErrorInvalidValue;
    if (!batch.gathered) mirror.agree(pieces.front());
    pieces = pieces.subspan(batch.pieces);
  }
  return hipSuccess;
}

hipError_t receive_pieces(Call& call, const protocol::WriteHostPiecesRequest& request) {
  SlotCopies& copies = call.session().copies;
  std::vector<Piece> pieces(request.pieces);
  const hipError_t error = copies.receive(request.tag, std::as_writable_bytes(std::span(pieces)));
  if (error != hipSuccess) return error;
  if (call.session().host_mirror.holds(pieces, request.bytes))
    return receive(copies, call.session().host_mirror, request.tag, pieces);
  copies.discard(request.tag, request.bytes);
  return hipErrorInvalidValue;
}

hipError_t take_pieces(Call& call, const protocol::WriteHostPiecesRequest& request) {
  const std::uint64_t places = request.pieces * sizeof(Piece);
  if (call.tail().size() < places || call.tail().size() - places != request.bytes)
    return hipErrorInvalidValue;
  const std::vector<Piece> pieces = pieces_in(call.tail().first(places));
  const bool taken = call.session().host_mirror.put(pieces, call.tail().subspan(places));
  return taken ? hipSuccess : hipErrorInvalidValue;
}

// The client is about to take it: it has the reply.
void send_found(SessionState& session, std::uint64_t tag, HostMirror::Found& found) {
  HostMirror& mirror = session.host_mirror;
  while (found.left()) {
    if (!session.life.wait_until([&] { return mirror.has_room(); })) return;
    Status sent = mirror.send_some(session.bulk, tag, found);
    if (!sent.is_ok()) return session.life.end(std::move(sent));
    session.mover.drive();
  }
}

}  // namespace

void open_host_part(Call& call, const protocol::OpenHostPartRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  if (request.copied > 1) return static_cast<void>(call.reject("OpenHostPart"));
  const hipError_t error = session.host_parts.open(request.address, request.bytes);
  if (error == hipSuccess && (session.host_parts.is_mirror() || request.copied != 0))
    session.host_mirror.opened(request.address, request.bytes);
  call.reply(error);
}

// The file travels separately from the request, and may arrive after it.
void map_host_file(Call& call, const protocol::MapHostFileRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const Deadline deadline = Deadline::after(kFileTime);
  net::OwnedFd file;
  const auto has_come = [&] {
    file = session.passed_files.take(request.number);
    return file || deadline.passed();
  };
  if (!session.life.wait_until(has_come)) return;
  call.reply(file ? session.host_parts.map_file(request.address, request.bytes, file.get(), request.offset)
                  : hipErrorInvalidHandle);
}

void unmap_host_file(Call& call, const protocol::UnmapHostFileRequest& request) {
  SessionState& session = call.session();
  if (session.streams.wait_all_idle()) call.finish(session.host_parts.unmap_file(request.address));
}

void close_host_part(Call& call, const protocol::CloseHostPartRequest& request) {
  SessionState& session = call.session();
  HostMirror& mirror = session.host_mirror;
  const auto is_closed = [&] { return mirror.try_close(request.address); };
  if (!session.streams.wait_all_idle() || !session.life.wait_until(is_closed)) return;
  call.finish(session.host_parts.close(request.address));
}

void write_host_pieces(Call& call, const protocol::WriteHostPiecesRequest& request) {
  const bool sane =
      request.pieces != 0 && request.pieces <= kMirrorPiecesMax && request.bytes <= kMirrorBytesMax;
  if (!sane) {
    static_cast<void>(call.reject("a mirror's pieces"));
    return;
  }
  call.finish(request.tag != 0 ? receive_pieces(call, request) : take_pieces(call, request));
  call.session().mirror_orders.wrote();
}

void find_host_changes(Call& call, const protocol::FindHostChangesRequest& request) {
  const std::vector<Piece> pieces = pieces_in(call.tail());
  SessionState& session = call.session();
  protocol::FindHostChangesReply reply{};
  reply.idle = session.streams.all_idle() ? 1 : 0;
  HostMirror::Found found;
  const bool whole = call.tail().size() % sizeof(Piece) == 0;
  if (!whole || !session.host_mirror.find(pieces, reply.idle != 0, found).is_ok())
    return call.reply(hipErrorInvalidValue);
  reply.pieces = found.pieces.size();
  reply.bytes = mirror::total(found.pieces);
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
  send_found(session, request.tag, found);
}

}  // namespace tf::worker::custom
