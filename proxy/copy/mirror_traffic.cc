// SPDX-License-Identifier: Apache-2.0
// Carries pieces of mirrored memory to the worker and back.
#include "proxy/copy/mirror_traffic.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "hipcore/mirror/batch.h"
#include "hipcore/mirror/order.h"
#include "proxy/stats/counting.h"

namespace tf::proxy {
namespace {

using mirror::Order;
using mirror::OrderReply;
using mirror::Piece;

constexpr std::size_t kPiecesPerWrite = 16'384;  // below the worker's limit (worker/memory/host_mirror.h)
constexpr std::size_t kPiecesPerFind = 2'048;    // fit in a message
static_assert(kPiecesPerFind <= mirror::kOrderPiecesMax);
static_assert(mirror::kOrderMessageMax <= protocol::kMirrorOrderMax);

// Memory that the transport reads, perhaps gathered here.
struct Sending {
  std::vector<std::byte> gathered;
  std::optional<BulkCompletion> completion;  // none: nothing is in flight
};

hipError_t finish(Connection& connection, Sending& sending, hipError_t so_far) {
  if (!sending.completion) return so_far;
  const hipError_t error = finish_transfer(connection, *sending.completion, true, so_far);
  sending.completion.reset();
  return error;
}

hipError_t start(Connection& connection, OutgoingPayload& payload, std::span<const std::byte> source,
                 Sending& sending) {
  const Status started = payload.send(source, sending.completion.emplace());
  if (!started.is_ok()) sending.completion.reset();
  return connection.transferred(started);
}

// What one order writes: the first of both, cut if there is more.
struct Cut {
  std::vector<Piece> here;
  std::vector<Piece> there;
  std::uint64_t bytes = 0;
};

Cut cut(std::span<const Piece> here, std::span<const Piece> there, std::size_t& next, std::uint64_t& done) {
  Cut part;
  while (next < here.size() && part.here.size() < mirror::kOrderPiecesMax) {
    const std::uint64_t left = here[next].bytes - done;
    const std::uint64_t bytes = std::min(left, mirror::kOrderBytesMax - part.bytes);
    if (bytes == 0) break;
    part.here.push_back({here[next].address + done, bytes});
    part.there.push_back({there[next].address + done, bytes});
    part.bytes += bytes;
    done = bytes == left ? 0 : done + bytes;
    if (bytes == left) ++next;
  }
  return part;
}

}  // namespace

hipError_t MirrorTraffic::write(Way way, Pieces here, Pieces there) {
  const std::uint64_t bytes = mirror::total(here);
  if (bytes == 0) return hipSuccess;
  sent_.fetch_add(bytes, std::memory_order_relaxed);
  if (stats::counting()) stats::count_to_device(bytes);
  if (way == Way::kAtOnce) return write_at_once(here, there);
  hipError_t error = hipSuccess;
  while (error == hipSuccess && !here.empty()) {
    const std::size_t count = std::min(here.size(), kPiecesPerWrite);
    error = write_some(here.first(count), there.first(count));
    here = here.subspan(count);
    there = there.subspan(count);
  }
  return error;
}

hipError_t MirrorTraffic::write_some(Pieces here, Pieces there) {
  const std::uint64_t bytes = mirror::total(here);
  const bool small = there.size_bytes() + bytes <= connection_.inline_payload_bytes();
  ++posted_;
  return small ? write_inline(here, there, bytes) : write_bulk(here, there, bytes);
}

hipError_t MirrorTraffic::write_inline(Pieces here, Pieces there, std::uint64_t bytes) {
  std::vector<std::byte> tail(there.size_bytes() + bytes);
  std::memcpy(tail.data(), there.data(), there.size_bytes());
  mirror::gather(here, tail.data() + there.size_bytes());
  protocol::WriteHostPiecesRequest request{};
  request.pieces = there.size();
  request.bytes = bytes;
  return connection_.post(0, request, tail);
}

// The next batch is gathered while the last one travels.
hipError_t MirrorTraffic::write_bulk(Pieces here, Pieces there, std::uint64_t bytes) {
  OutgoingPayload payload(connection_);
  protocol::WriteHostPiecesRequest request{};
  request.tag = payload.tag();
  request.pieces = there.size();
  request.bytes = bytes;
  Sending places;
  std::array<Sending, 2> sending;
  hipError_t error = start(connection_, payload, std::as_bytes(there), places);
  if (error == hipSuccess) error = connection_.post(0, request);
  for (unsigned turn = 0; error == hipSuccess && !here.empty(); ++turn) {
    Sending& next = sending[turn % 2];
    error = finish(connection_, next, hipSuccess);
    if (error != hipSuccess) break;
    const mirror::Batch batch = mirror::next_batch(here);
    std::span<const std::byte> source = here.front().memory();
    if (batch.gathered) {
      next.gathered.resize(batch.bytes);
      mirror::gather(here.first(batch.pieces), next.gathered.data());
      source = next.gathered;
    }
    error = start(connection_, payload, source, next);
    here = here.subspan(batch.pieces);
  }
  for (Sending* each : {&sending[0], &sending[1], &places}) error = finish(connection_, *each, error);
  return error;
}

// On the control connection, and not the bulk plane: there a payload that the executor has not asked for may
// be in front of it.
hipError_t MirrorTraffic::write_at_once(Pieces here, Pieces there) {
  std::size_t next = 0;
  std::uint64_t done = 0;  // of here[next]
  hipError_t error = hipSuccess;
  while (error == hipSuccess && next < here.size()) {
    const Cut part = cut(here, there, next, done);
    IncomingPayload answer(connection_);
    const Order order{Order::What::kWrite, 0, answer.tag(), posted_, part.there.size(), part.bytes};
    std::vector<std::byte> message = mirror::order_message(order, part.there);
    mirror::gather(part.here, message.data() + message.size() - part.bytes);
    OrderReply reply;
    error = receive(answer, std::as_writable_bytes(std::span(&reply, 1)),
                    [&] { return connection_.order_mirror(message); });
  }
  return error;
}

template <typename Tell>
hipError_t MirrorTraffic::receive(IncomingPayload& payload, std::span<std::byte> target, Tell tell) {
  BulkCompletion arrived;
  const Status started = payload.receive(target, arrived);
  if (!started.is_ok()) return connection_.transferred(started);
  return finish_transfer(connection_, arrived, true, tell());
}

hipError_t MirrorTraffic::fetch(Way way, Pieces asked, MirroredPlaces& places, bool& idle) {
  idle = way == Way::kInOrder;
  while (!asked.empty()) {
    const std::size_t count = std::min(asked.size(), kPiecesPerFind);
    bool was_idle = true;
    const hipError_t error = way == Way::kInOrder ? fetch_in_order(asked.first(count), places, was_idle)
                                                  : fetch_at_once(asked.first(count), places);
    if (error != hipSuccess) return error;
    idle = idle && was_idle;
    asked = asked.subspan(count);
  }
  return hipSuccess;
}

hipError_t MirrorTraffic::fetch_in_order(Pieces asked, MirroredPlaces& places, bool& idle) {
  IncomingPayload payload(connection_);
  payload.keep_open();
  protocol::FindHostChangesRequest request{};
  request.tag = payload.tag();
  protocol::FindHostChangesReply found{};
  hipError_t error = connection_.call(0, request, found, std::as_bytes(asked));
  if (error != hipSuccess) return error;
  idle = found.idle != 0;
  if (found.pieces == 0) return hipSuccess;
  if (!is_sane(asked, found.pieces, found.bytes)) return distrust("of more than there is");
  std::vector<Piece> there(found.pieces);
  error = receive(payload, std::as_writable_bytes(std::span(there)), [] { return hipSuccess; });
  return error == hipSuccess ? land(payload, there, found.bytes, places) : error;
}

hipError_t MirrorTraffic::fetch_at_once(Pieces asked, MirroredPlaces& places) {
  IncomingPayload payload(connection_);
  payload.keep_open();
  const Order order{Order::What::kFind, 0, payload.tag(), posted_, asked.size(), 0};
  const std::vector<std::byte> message = mirror::order_message(order, asked);
  OrderReply found;
  hipError_t error = receive(payload, std::as_writable_bytes(std::span(&found, 1)),
                             [&] { return connection_.order_mirror(message); });
  if (error != hipSuccess || found.pieces == 0) return error;
  if (!is_sane(asked, found.pieces, found.bytes)) return distrust("of more than there is");
  std::vector<Piece> there(found.pieces);
  error = receive(payload, std::as_writable_bytes(std::span(there)), [] { return hipSuccess; });
  return error == hipSuccess ? land(payload, there, found.bytes, places) : error;
}

hipError_t MirrorTraffic::land(IncomingPayload& payload, const std::vector<Piece>& there, std::uint64_t bytes,
                               MirroredPlaces& places) {
  std::vector<Piece> here;
  std::vector<mirror::Changes*> memory;
  for (const Piece& piece : there) {
    Piece& place = here.emplace_back();
    const bool fits = piece.bytes != 0 && piece.bytes <= bytes;
    memory.push_back(fits ? places.place_of(piece, place) : nullptr);
    if (memory.back() == nullptr) return distrust("of other memory");
    bytes -= piece.bytes;
  }
  if (bytes != 0) return distrust("that are not all");
  if (stats::counting()) stats::count_from_device(mirror::total(here));
  std::vector<std::byte> gathered;
  for (std::size_t first = 0; first < here.size();) {
    const Pieces rest = std::span(here).subspan(first);
    const mirror::Batch batch = mirror::next_batch(rest);
    if (batch.gathered) gathered.resize(batch.bytes);
    const auto target = batch.gathered ? std::span(gathered) : rest.front().memory();
    if (const hipError_t error = receive(payload, target, [] { return hipSuccess; }); error != hipSuccess)
      return error;
    const std::byte* next = gathered.data();
    for (const std::size_t end = first + batch.pieces; first < end; ++first) {
      if (batch.gathered) memory[first]->put(std::span(here).subspan(first, 1), next);
      if (!batch.gathered) memory[first]->agree(here[first]);
      next += here[first].bytes;
    }
    fetched_.fetch_add(batch.bytes, std::memory_order_relaxed);
  }
  return hipSuccess;
}

// A piece has whole pages, except at the ends of a range.
bool MirrorTraffic::is_sane(Pieces asked, std::uint64_t pieces, std::uint64_t bytes) {
  const std::uint64_t most = mirror::total(asked);
  return bytes <= most && pieces <= most / mirror::kPageBytes + 2 * asked.size();
}

hipError_t MirrorTraffic::distrust(const char* what) {
  connection_.lose(Status(Code::kProtocol, std::string("the worker sent changes ") + what));
  return kLostError;
}

}  // namespace tf::proxy
