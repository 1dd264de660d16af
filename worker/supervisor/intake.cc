// SPDX-License-Identifier: Apache-2.0
// Seats new connections, and reads what they have to say before they get a session process.
#include "worker/supervisor/intake.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "transport/frame.h"
#include "transport/net/socket.h"

namespace tf::worker {
namespace {

const char* why_late(const Intake::Connection& connection) {
  if (connection.ready) return "no session process became free in time";
  if (connection.prover != nullptr) return "its key was not proven in time";
  if (connection.identified) return "its HELLO was not complete in time";
  return "its attach frame was not complete in time";
}

bool has_unread(int socket) {
  std::byte first;
  return ::recv(socket, &first, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

// Whether more of a HELLO has to come. What is none, or is very long, need not be waited for: a session
// process says what is wrong with it.
bool is_part_of_hello(int socket) {
  std::array<std::byte, kFrameHeaderBytes> bytes;
  const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_PEEK);
  if (got <= 0) return false;  // its end
  if (static_cast<std::size_t>(got) < bytes.size()) return true;
  const Result<FrameHeader> header = read_header(bytes, kHelloAwaitedBytesMax);
  int unread = 0;
  return header && ::ioctl(socket, FIONREAD, &unread) == 0 &&
         static_cast<std::size_t>(unread) < bytes.size() + header.value().payload_length;
}

}  // namespace

std::optional<Intake::Connection> Intake::add(Connection connection) {
  connection.deadline = Deadline::after(kIdentifyTime);
  const bool door = connection.is_local;
  connections_.push_back(std::move(connection));
  std::vector<std::list<Connection>::iterator> here;
  std::vector<Seat> seats;
  for (auto entry = connections_.begin(); entry != connections_.end(); ++entry) {
    if (entry->is_local != door) continue;
    here.push_back(entry);
    seats.push_back(
        {.peer = entry->peer, .is_stranger = entry->keyed && !entry->client, .waits = entry->ready});
  }
  if (here.size() <= seats_) return std::nullopt;
  const auto gone =
      here[gives_way(seats, [&](std::size_t index) { return !has_unread(here[index]->socket.get()); })];
  Connection given_way = std::move(*gone);
  connections_.erase(gone);
  return given_way;
}

void Intake::watch(std::vector<pollfd>& polled) {
  first_polled_ = polled.size();
  polled_count_ = connections_.size();
  // A connection that waits for a session process is not polled again for data already seen.
  for (const Connection& connection : connections_) {
    const bool wanted = !connection.ready && connection.look_at.passed();
    polled.push_back({wanted ? connection.socket.get() : -1, POLLIN | POLLRDHUP, 0});
  }
}

bool Intake::read_frame(Connection& connection) {
  while (connection.have < connection.frame.size()) {
    const ssize_t got = ::recv(connection.socket.get(), connection.frame.data() + connection.have,
                               connection.frame.size() - connection.have, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      if (connection.have != 0)  // else somebody only looked whether a worker listens
        log_.line("a connection was closed before its attach frame was complete ({} bytes)", connection.have);
      return false;
    }
    connection.have += static_cast<std::size_t>(got);
  }
  Result<net::Attach> attach = net::decode_attach(connection.frame);
  if (!attach) {
    log_.line("refused a connection: {}", attach.status().to_string());
    return false;
  }
  connection.attach = *attach;
  connection.identified = true;
  return true;
}

bool Intake::identify(Connection& connection, const Meet& meet) {
  if (!read_frame(connection)) return false;
  if (!connection.identified) return true;
  Result<std::unique_ptr<Prover>> prover = meet(connection);
  if (!prover) {
    log_.line("refused a connection: {}", prover.status().message());
    return false;
  }
  connection.prover = std::move(*prover);
  return connection.prover == nullptr || prove(connection);
}

bool Intake::prove(Connection& connection) {
  const Status status = connection.prover->step(connection.socket.get());
  if (status.code() == Code::kWouldBlock) return true;
  if (!status) {
    log_.line("refused a connection from {}: {}", net::peer_text(connection.socket.get()), status.message());
    return false;
  }
  connection.client = connection.prover->client();
  connection.attach.proof = connection.prover->proof();
  if (connection.client) connection.peer = "tenant " + connection.client->tenant;
  connection.prover.reset();
  return true;
}

// Consumes nothing: a session process has to see all of it.
bool Intake::await_hello(Connection& connection) {
  const int socket = connection.socket.get();
  pollfd end{socket, POLLRDHUP, 0};
  const bool has_ended = ::poll(&end, 1, 0) > 0;  // before the look: then all that ever comes has come
  if (connection.client || !is_part_of_hello(socket)) {
    connection.ready = true;  // HELLO, or the end: the session process will see which
    connection.deadline = Deadline::after(kSpareTime);
  } else if (has_ended) {
    log_.line("a connection of {} was closed before its HELLO was complete", connection.peer);
    return false;
  }
  connection.look_at = Deadline::after(kHelloPause);
  return true;
}

bool Intake::read(Connection& connection, const Meet& meet) {
  if (!connection.identified) return identify(connection, meet);
  if (connection.prover != nullptr) return prove(connection);
  return connection.ready || await_hello(connection);
}

void Intake::progress(const std::vector<pollfd>& polled, const Meet& meet, const Take& take) {
  std::size_t index = first_polled_;
  const std::size_t end = first_polled_ + polled_count_;
  for (auto entry = connections_.begin(); entry != connections_.end(); ++index) {
    Connection& connection = *entry;
    const bool readable = index < end && index < polled.size() && polled[index].revents != 0;
    bool keep = !readable || read(connection, meet);
    // Without its socket it has been refused, and counted; without a byte somebody only looked.
    if (!keep && connection.socket && connection.have != 0)
      count(connection.prover != nullptr ? Handshake::kUnproven : Handshake::kInvalid);
    const bool is_lane =
        connection.identified && connection.prover == nullptr && !connection.attach.token.is_zero();
    if (keep && is_lane) take(connection);
    if (keep && connection.socket && connection.deadline.passed()) {
      log_.line("closed a connection: {}", why_late(connection));
      count(Handshake::kLate);
      keep = false;
    }
    entry = keep && connection.socket ? std::next(entry) : connections_.erase(entry);
  }
}

std::vector<Intake::Connection*> Intake::waiting() {
  std::vector<Connection*> found;
  for (Connection& connection : connections_)
    if (connection.ready) found.push_back(&connection);
  return found;
}

void Intake::forget_taken() {
  connections_.remove_if([](const Connection& connection) { return !connection.socket; });
}

Deadline Intake::deadline() const {
  Deadline soonest = Deadline::never();
  for (const Connection& connection : connections_) {
    soonest = soonest.sooner(connection.deadline);
    if (!connection.ready && !connection.look_at.passed()) soonest = soonest.sooner(connection.look_at);
  }
  return soonest;
}

}  // namespace tf::worker
