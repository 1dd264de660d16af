// SPDX-License-Identifier: Apache-2.0
// Reads the first frame of new connections.
#include "worker/supervisor/intake.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "transport/net/socket.h"

namespace tf::worker {
namespace {

const char* why_late(const Intake::Connection& connection) {
  if (connection.ready) return "no session process became free in time";
  if (connection.prover != nullptr) return "its key was not proven in time";
  return "its attach frame was not complete in time";
}

}  // namespace

void Intake::add(net::OwnedFd socket, bool is_local, bool keyed) {
  Connection connection;
  connection.keyed = keyed;
  connection.socket = std::move(socket);
  connection.is_local = is_local;
  connection.deadline = Deadline::after(kIdentifyTime);
  connections_.push_back(std::move(connection));
}

void Intake::watch(std::vector<pollfd>& polled) {
  first_polled_ = polled.size();
  polled_count_ = connections_.size();
  // A connection that waits for a session process is not polled again for data already seen.
  for (const Connection& connection : connections_)
    polled.push_back({connection.ready ? -1 : connection.socket.get(), POLLIN, 0});
}

bool Intake::read_frame(Connection& connection) {
  while (connection.have < connection.frame.size()) {
    const ssize_t got = ::recv(connection.socket.get(), connection.frame.data() + connection.have,
                               connection.frame.size() - connection.have, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
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
  connection.prover.reset();
  return true;
}

void Intake::progress(const std::vector<pollfd>& polled, const Meet& meet, const Take& take) {
  std::size_t index = first_polled_;
  const std::size_t end = first_polled_ + polled_count_;
  for (auto entry = connections_.begin(); entry != connections_.end(); ++index) {
    Connection& connection = *entry;
    const bool readable = index < end && index < polled.size() && polled[index].revents != 0;
    bool keep = true;
    if (readable && !connection.identified) {
      keep = identify(connection, meet);
    } else if (readable && connection.prover != nullptr) {
      keep = prove(connection);
    } else if (readable && !connection.ready) {
      connection.ready = true;  // HELLO, or the end: the session process will see which
      connection.deadline = Deadline::after(kSpareTime);
    }
    const bool is_lane =
        connection.identified && connection.prover == nullptr && !connection.attach.token.is_zero();
    if (keep && (is_lane || connection.ready)) take(connection);
    if (keep && connection.socket && connection.deadline.passed()) {
      log_.line("closed a connection: {}", why_late(connection));
      keep = false;
    }
    entry = keep && connection.socket ? std::next(entry) : connections_.erase(entry);
  }
}

Deadline Intake::deadline() const {
  Deadline soonest = Deadline::never();
  for (const Connection& connection : connections_) soonest = soonest.sooner(connection.deadline);
  return soonest;
}

}  // namespace tf::worker
