// SPDX-License-Identifier: Apache-2.0
// The way in: accepts connections, gives each a seat, and hands them to session processes or refuses them.
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "hipcore/wire/hello.h"
#include "transport/net/records.h"
#include "worker/base/log.h"
#include "worker/supervisor/supervisor.h"

namespace tf::worker {
namespace {

constexpr int kAcceptsPerTurn = 64;  // of one listener: a flood of refused ones would go on without end

}  // namespace

void Supervisor::accept_from(net::Listener& listener) {
  for (int count = 0; count < kAcceptsPerTurn; ++count) {
    Result<net::OwnedFd> socket = listener.accept();
    if (socket.code() == Code::kWouldBlock) return;
    if (!socket) {
      // Mostly out of descriptors: the listener stays readable, so without a pause this would spin.
      intake_.log().line("cannot accept a connection: {}", socket.status().to_string());
      accept_at_ = Deadline::after(std::chrono::milliseconds(200));
      return;
    }
    const bool is_local = listener.address().is_unix();
    Intake::Connection connection;
    connection.is_local = is_local;
    connection.keyed = !is_local && has_keys();
    if (connection.keyed) {
      connection.peer = "address " + net::peer_network(socket->get());
    } else {
      // The one place: nothing has been read, and neither its attach frame nor its HELLO will be.
      const std::optional<uid_t> user = door_.admit(socket->get(), is_local);
      if (!user) {
        metrics_.count(Handshake::kUser);
        continue;
      }
      connection.peer = fmt::format("user {}", *user);
    }
    connection.socket = std::move(*socket);
    std::optional<Intake::Connection> gone = intake_.add(std::move(connection));
    if (gone) give_way(*gone);
  }
}

// With its seat it loses its connection. A stranger who has to prove a key hears nothing: it listens for TLS.
void Supervisor::give_way(Intake::Connection& connection) {
  const std::string seats = fmt::format("all {} seats of {} for connections without a session were taken",
                                        intake_.seats(), connection.is_local ? "the Unix socket" : "TCP");
  metrics_.count(Handshake::kGaveWay);
  seats_log_.line("a connection of {} gave way, {} in all: {}", connection.peer, ++gave_way_, seats);
  if (connection.keyed && !connection.client) return;
  answer(connection, Code::kResourceExhausted,
         fmt::format("{}, and {} had the most", seats, connection.peer));
}

void Supervisor::serve_waiting() {
  std::vector<Intake::Connection*> waiting = intake_.waiting();
  if (waiting.empty()) return;
  std::erase_if(waiting, [&](Intake::Connection* one) { return turned_away(*one); });
  // Who has the fewest sessions comes first, so that nobody's start is behind many of somebody else.
  while (!waiting.empty()) {
    const auto next = std::ranges::min_element(
        waiting, {}, [&](Intake::Connection* one) { return ledger_.sessions_of(one->peer); });
    if (!turned_away(**next)) static_cast<void>(hand_over(**next));
    waiting.erase(next);
  }
  intake_.forget_taken();
}

// What its key says, and else what holds for all.
Limits Supervisor::limits_of(const Intake::Connection& connection) const {
  if (!connection.client) return options_.tenant_limits;
  const Result<Limits> own = gate_->limits_of(connection.client->key);
  return own ? own.value().over(options_.tenant_limits) : options_.tenant_limits;
}

// --device is for all.
DeviceSet Supervisor::devices_of(const Intake::Connection& connection) const {
  return options_.devices.empty() ? limits_of(connection).devices() : options_.devices;
}

bool Supervisor::turned_away(Intake::Connection& connection) {
  if (!still_welcome(connection)) return true;
  const Limits limits = limits_of(connection);
  Status may = ledger_.may_start(connection.peer, limits);
  const bool by_sessions = ledger_.sessions_of(connection.peer) >= limits.of(Limit::kSessions);
  if (!may)
    metrics_.refused(limits.of(Limit::kSessions) != 0 && by_sessions ? Limit::kSessions : Limit::kStarts);
  if (busy() >= options_.sessions_max)
    may = {Code::kResourceExhausted,
           fmt::format("this worker serves {} clients already (--sessions-max)", options_.sessions_max)};
  else if (const DeviceSet devices = devices_of(connection); may && spares_.unusable(devices))
    may = {Code::kUnavailable, fmt::format("the devices of {} ({}) cannot be used; the worker's log says why",
                                           connection.peer, fmt::join(devices, ","))};
  if (may) return false;
  refuse(connection, may.code(), may.message());
  return true;
}

// Before it gets its client.
Status Supervisor::send_grant(const Child& child, const hipcore::DeviceLimits& devices) const {
  ChannelMessage message;
  message.kind = Envelope::kGrant;
  message.grant = {child.seat->limits.values(), static_cast<std::uint32_t>(child.seat->slot), devices};
  const net::OwnedFd& page = ledger_.page_of(*child.seat);
  if (page) message.connection = net::OwnedFd(::fcntl(page.get(), F_DUPFD_CLOEXEC, 0));
  if (page && !message.connection) return Status::from_errno("a tenant's page", errno);
  return send_message(child.channel.get(), message, Deadline::now());
}

// False: no session process is warm, so it stays in the intake.
bool Supervisor::hand_over(Intake::Connection& connection) {
  const DeviceSet devices = devices_of(connection);
  auto spare = std::find_if(children_.begin(), children_.end(), [&devices](const auto& entry) {
    return entry.second.state == State::kSpare && entry.second.shown == devices;
  });
  if (spare == children_.end()) return false;
  // Nobody gets more than he may have because a file cannot be read.
  const Result<hipcore::DeviceLimits> manager = device_limits();
  Result<Ledger::Seat> seat = manager ? ledger_.enter(connection.peer, limits_of(connection))
                                      : Result<Ledger::Seat>(manager.status());
  if (!seat) {
    refuse(connection, seat.code(), seat.status().message());
    return true;
  }
  spare->second.seat = std::move(*seat);
  ChannelMessage message;
  message.kind = Envelope::kControl;
  message.session_id = next_session_id_;
  message.is_local = connection.is_local;
  message.quiet = !options_.verbose && intake_.log().exhausted(LogLimit::Clock::now());
  if (connection.client) {
    message.session = *connection.client->session;
    message.whom = connection.client->whom;
  }
  message.connection = std::move(connection.socket);
  Status sent = send_grant(spare->second, manager.value());
  if (sent) sent = send_message(spare->second.channel.get(), message, Deadline::now());
  connection.socket = std::move(message.connection);
  if (!sent.is_ok()) {
    doom(spare->first, spare->second, sent.to_string());
    return false;
  }
  Child& child = spare->second;
  child.state = State::kOffered;
  child.audited = identify(connection, next_session_id_, spare->first, child);
  child.deadline = Deadline::after(kTakeTime);
  child.session_id = next_session_id_++;
  child.accepted = connection.accepted;
  child.client = connection.client;
  child.offered = std::move(connection);
  if (options_.verbose) log("session {}: process {}", child.session_id, spare->first);
  return true;
}

void Supervisor::take_lane(Intake::Connection& connection) {
  Child* const child = find_lanes_session(connection.attach.token);
  ChannelMessage message;
  message.kind = Envelope::kLane;
  message.attach = connection.attach;
  message.connection = std::move(connection.socket);  // closed when this returns, unless passed on
  if (child == nullptr) return intake_.log().line("a lane refused: no session expects its token");
  // Those of a session with keys were proven on their way here.
  if (child->client.has_value() != connection.keyed)
    return intake_.log().line("a lane refused: it did not come the way that its session came");
  const Status sent = send_message(child->channel.get(), message, Deadline::now());
  if (!sent.is_ok()) intake_.log().line("a lane lost: session {}: {}", child->session_id, sent.to_string());
}

void Supervisor::refuse(Intake::Connection& connection, Code code, const std::string& why) {
  intake_.log().line("a client refused: {}", why);
  metrics_.count(code == Code::kPermission          ? Handshake::kPermission
                 : code == Code::kResourceExhausted ? Handshake::kLimit
                                                    : Handshake::kUnavailable);
  answer(connection, code, why);
}

// The answer to its HELLO, and the end of it.
void Supervisor::answer(Intake::Connection& connection, Code code, const std::string& why) {
  const net::OwnedFd socket = std::move(connection.socket);
  // Closing a TCP socket with unread data resets the connection, and loses the answer.
  std::byte hello[4096];
  while (::recv(socket.get(), hello, sizeof hello, MSG_DONTWAIT) > 0) continue;
  protocol::HelloReply reply;
  reply.code = code;
  reply.message = why;
  net::Stream stream = socket.get();
  Result<std::unique_ptr<net::Records>> records = std::unique_ptr<net::Records>();
  if (connection.client) records = net::Records::make(*connection.client->session, secure::Side::kWorker);
  if (records) stream.records = records->get();
  const Status sent = records ? protocol::send_hello_reply(stream, reply, Deadline::now()) : records.status();
  if (!sent.is_ok() && options_.verbose)
    log(LogLevel::kWarning, "cannot deliver the refusal: {}", sent.to_string());
}

}  // namespace tf::worker
