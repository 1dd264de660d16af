// SPDX-License-Identifier: Apache-2.0
// The way in: accepts connections, gives each a seat, and hands them to session processes or refuses them.
#include <sys/socket.h>

#include <algorithm>
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
      if (!user) continue;
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
  seats_log_.line("a connection of {} gave way, {} in all: {}", connection.peer, ++gave_way_, seats);
  if (connection.keyed && !connection.client) return;
  answer(connection, Code::kResourceExhausted,
         fmt::format("{}, and {} had the most", seats, connection.peer));
}

void Supervisor::serve_waiting() {
  std::vector<Intake::Connection*> waiting = intake_.waiting();
  if (waiting.empty()) return;
  std::map<std::string, std::size_t> sessions;
  for (const auto& [pid, child] : children_)
    if (child.state == State::kServing || child.state == State::kOffered) ++sessions[child.peer];
  std::erase_if(waiting, [&](Intake::Connection* one) { return turned_away(*one, sessions[one->peer]); });
  // Who has the fewest sessions comes first, so that nobody's start is behind many of somebody else.
  while (!waiting.empty()) {
    const auto next =
        std::ranges::min_element(waiting, {}, [&](Intake::Connection* one) { return sessions[one->peer]; });
    std::size_t& own = sessions[(*next)->peer];
    if (!turned_away(**next, own)) {
      if (!hand_over(**next)) break;
      ++own;
    }
    waiting.erase(next);
  }
  intake_.forget_taken();
}

bool Supervisor::turned_away(Intake::Connection& connection, std::size_t sessions) {
  if (!still_welcome(connection)) return true;
  std::string why;
  if (busy() >= options_.sessions_max)
    why = fmt::format("this worker serves {} clients already (--sessions-max)", options_.sessions_max);
  else if (sessions >= options_.sessions_per_tenant)
    why = fmt::format("{} has {} sessions already, as many as one may have here (--sessions-per-tenant)",
                      connection.peer, sessions);
  if (why.empty()) return false;
  refuse(connection, Code::kResourceExhausted, why);
  return true;
}

// False: no session process is warm, so it stays in the intake.
bool Supervisor::hand_over(Intake::Connection& connection) {
  auto spare = std::find_if(children_.begin(), children_.end(),
                            [](const auto& entry) { return entry.second.state == State::kSpare; });
  if (spare == children_.end()) return false;
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
  const Status sent = send_message(spare->second.channel.get(), message, Deadline::now());
  connection.socket = std::move(message.connection);
  if (!sent.is_ok()) {
    doom(spare->first, spare->second, sent.to_string());
    return false;
  }
  Child& child = spare->second;
  child.state = State::kOffered;
  child.audited = identify(connection, next_session_id_, spare->first, child.devices);
  child.deadline = Deadline::after(kTakeTime);
  child.session_id = next_session_id_++;
  child.peer = connection.peer;
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
