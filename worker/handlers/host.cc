// SPDX-License-Identifier: Apache-2.0
// Host memory that devices use at the client's addresses. Executor thread.
#include <chrono>

#include "transport/base/deadline.h"
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

constexpr std::chrono::seconds kFileTime{2};

// Whether a piece of a mirror may be written or read.
bool is_piece(Call& call, std::uint64_t address, std::uint64_t bytes) {
  const HostParts& window = call.session().host_parts;
  return bytes != 0 && window.is_mirror() && window.holds(address, bytes);
}

}  // namespace

void open_host_part(Call& call, const protocol::OpenHostPartRequest& request) {
  if (call.use_device()) call.reply(call.session().host_parts.open(request.address, request.bytes));
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
  HostParts& window = session.host_parts;
  if (!session.streams.wait_all_idle() || !session.life.wait_until([&] { return window.sweep(); })) return;
  call.finish(window.close(request.address));
}

// The executor waits for the payload: the next request may use it.
void write_host_part(Call& call, const protocol::WriteHostPartRequest& request) {
  SlotCopies& copies = call.session().copies;
  if (!is_piece(call, request.address, request.bytes)) {
    if (request.bytes != 0) copies.discard(request.tag, request.bytes);
    return call.finish(hipErrorInvalidValue);
  }
  call.finish(copies.receive(request.tag, {reinterpret_cast<std::byte*>(request.address), request.bytes}));
}

void read_host_part(Call& call, const protocol::ReadHostPartRequest& request) {
  SessionState& session = call.session();
  HostParts& window = session.host_parts;
  if (!is_piece(call, request.address, request.bytes)) {
    session.copies.abort(request.tag, hipErrorInvalidValue);
    return call.finish(hipErrorInvalidValue);
  }
  const auto has_room = [&] {
    window.sweep();
    return window.can_send();
  };
  if (!session.life.wait_until(has_room)) return;
  Status sent = window.send(session.bulk, request.tag, request.address, request.bytes);
  if (!sent.is_ok()) session.life.end(std::move(sent));
  session.mover.drive();
}

}  // namespace tf::worker::custom
