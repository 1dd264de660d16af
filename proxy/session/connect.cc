// SPDX-License-Identifier: Apache-2.0
// Connects to a worker: control connection, HELLO, lanes.
#include "proxy/session/connect.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hipcore/abi/rules.h"
#include "hipcore/wire/hello.h"
#include "hipcore/wire/protocol_hash.h"
#include "hipcore/wire/shared_files.h"
#include "proxy/base/log.h"
#include "proxy/session/best_transport.h"
#include "proxy/session/connect_advice.h"
#include "proxy/session/keys.h"
#include "transport/factory/factory.h"
#include "transport/net/address.h"
#include "transport/net/liveness.h"
#include "transport/net/socket.h"
#include "transport/net/transport.h"
#include "transport/shaper/endpoint.h"

namespace tf::proxy {
namespace {

constexpr int kGreetingsMax = 3;
constexpr auto kGreetingPause = std::chrono::milliseconds(100);

const net::Transport* by_name(std::string_view name) {
  for (const net::Transport* transport : transports()) {
    if (transport->name() == name) return transport;
  }
  return nullptr;
}

Result<protocol::HelloReply> say_hello(const net::Stream& control, const net::Transport& transport,
                                       const net::Token& token, bool is_far, Deadline deadline) {
  protocol::HelloRequest hello;
  hello.schema_hash = protocol::kProtocolHash;
  hello.transport = std::string(transport.name());
  hello.token = token;
  hello.capabilities = is_far ? protocol::kClientIsFar : 0;
  hello.hip_major = abi::kRules.major;
  hello.pid = static_cast<std::uint32_t>(::getpid());
  hello.program = std::string(program_invocation_short_name).substr(0, protocol::kProgramNameBytesMax);
  // With keys, the attach frame was written before the handshake.
  Status said =
      control.records == nullptr ? net::write_attach(control.socket, net::Attach{}, deadline) : Status::ok();
  if (said) said = protocol::send_hello(control, hello, deadline);
  // A worker that does not let us in has read nothing when it hangs up, but it has said why.
  if (!said && said.code() != Code::kPeerLost) return said;
  Result<protocol::HelloReply> reply = protocol::receive_hello_reply(control, deadline);
  if (!reply) return reply.status();
  if (reply->code != Code::kOk) return Status(reply->code, "the worker refused: " + reply->message);
  return reply;
}

struct Greeted {
  net::OwnedStream control;
  net::Address worker;  // where it is; the name that was asked for may have several addresses
  net::Lanes lanes;     // the token is a fresh one per attempt: the last one may still be in use
  protocol::HelloReply reply;
  protocol::SharedFiles files;
};

Result<Greeted> greet_once(const Settings& settings, const net::Address& address,
                           const net::Transport& transport, Deadline deadline) {
  Result<net::Token> token = net::Token::random();
  if (!token) return token.status();
  Result<net::OwnedFd> socket = net::dial(address, deadline);
  if (!socket) return advise_unreachable(socket.status(), address, settings);
  net::Address worker = net::address_reached(socket->get(), address);
  TF_RETURN_IF_ERROR(net::watch_silence(socket->get(), settings.io_timeout));
  Result<KeyPlan> plan = plan_keys(settings, address, net::stays_on_host(socket->get()));
  if (!plan) return plan.status();
  if (plan->level == secure::Level::kEncrypt && !transport.encrypts())
    return Status(Code::kUnavailable, std::string(transport.name()) +
                                          " cannot encrypt what it carries: use tcp, or TF_SECURITY=auth");
  Result<SecuredControl> control = secure_control(std::move(*socket), *plan, address, deadline);
  if (!control) return advise_handshake(control.status(), address, settings);
  Result<protocol::HelloReply> reply =
      say_hello(control->control.stream(), transport, *token, settings.shape.has_value(), deadline);
  if (!reply) return advise_handshake(reply.status(), address, settings);
  Result<protocol::SharedFiles> files =
      protocol::receive_shared_files(control->control.get(), reply->snapshot, deadline);
  if (!files) return files.status();
  return Greeted{std::move(control->control), std::move(worker),
                 net::Lanes(*token, std::move(control->session)), std::move(*reply), std::move(*files)};
}

// A worker's session process may die just as it gets our connection. The worker soon has another, so if a
// connection was accepted and then ended silently, we try again.
Result<Greeted> greet(const Settings& settings, const net::Address& address, const net::Transport& transport,
                      Deadline deadline) {
  for (int attempt = 1;; ++attempt) {
    Result<Greeted> greeted = greet_once(settings, address, transport, deadline);
    if (greeted.code() != Code::kPeerLost || attempt == kGreetingsMax || deadline.passed()) return greeted;
    std::this_thread::sleep_for(kGreetingPause);
  }
}

Result<Connected> connect_over(const Settings& settings, const net::Address& address,
                               const net::Transport& transport, Deadline deadline) {
  Result<Greeted> greeted = greet(settings, address, transport, deadline);
  if (!greeted) return greeted.status();
  protocol::HelloReply* reply = &greeted->reply;
  const net::Transport* granted = by_name(reply->transport);
  if (granted == nullptr)
    return Status(Code::kProtocol, "the worker granted transport '" + reply->transport + "'");
  if (greeted->lanes.encrypted() && !granted->encrypts())
    return Status(Code::kProtocol, "the worker granted " + reply->transport + ", which encrypts nothing");
  Result<std::unique_ptr<Endpoint>> endpoint = granted->connect(greeted->worker, greeted->lanes, deadline);
  if (!endpoint) return endpoint.status();
  for (const std::string& remark : (*endpoint)->take_remarks()) log_line(remark);
  if (settings.shape) endpoint = shaper::make_shaped(std::move(*endpoint), *settings.shape);
  if (!endpoint) return endpoint.status();
  log_debug("connected to " + address.to_string() + " over " + reply->transport +
            (greeted->lanes.session != nullptr
                 ? " (level " + std::string(secure::name(greeted->lanes.session->level)) + ")"
                 : "") +
            ", runtime " + reply->snapshot.runtime + ", " + std::to_string(reply->snapshot.devices.size()) +
            " device(s)");
  Connected parts;
  parts.endpoint = std::move(*endpoint);
  parts.snapshot = std::move(reply->snapshot);
  parts.walls = std::move(reply->message);
  parts.share = std::move(reply->limits);
  parts.control = std::move(greeted->control);
  parts.files = std::move(greeted->files);
  parts.streams_limited = reply->streams_limited;
  parts.only_device = settings.device;
  parts.visible = settings.visible;
  parts.mirrors_pinned = settings.mirrors_pinned;
  parts.fine_grained = settings.fine_grained;
  return parts;
}

// Those that can serve the session: all, or only those that encrypt. (greet_once() knows for certain.)
std::vector<const net::Transport*> able_transports(const Settings& settings, const net::Address& address) {
  const Result<KeyPlan> plan = plan_keys(settings, address, address.is_local());
  const bool must_encrypt = plan && plan.value().level == secure::Level::kEncrypt;
  std::vector<const net::Transport*> able;
  for (const net::Transport* transport : transports())
    if (!must_encrypt || transport->encrypts()) able.push_back(transport);
  return able;
}

}  // namespace

Result<Connected> connect(const Settings& settings) {
  const Deadline deadline = Deadline::after(settings.connect_timeout);
  Result<net::Address> address = net::Address::parse(settings.worker);
  if (!address) return address.status();
  const auto attempt = [&](const net::Transport& transport, Deadline own) {
    return connect_over(settings, *address, transport, own);
  };
  if (is_any(settings.transport))
    return connect_over_best(able_transports(settings, *address), *address, attempt, deadline);
  Result<const net::Transport*> chosen = choose(settings.transport, *address);
  return chosen ? attempt(**chosen, deadline) : Result<Connected>(chosen.status());
}

}  // namespace tf::proxy
