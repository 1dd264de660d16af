// SPDX-License-Identifier: Apache-2.0
#include "tests/support/endpoint_pair.h"

#include <thread>
#include <utility>

namespace tf::test {
namespace {

// Lanes may still be negotiating when no further connection comes: look at finish() this often.
constexpr std::chrono::milliseconds kFinishPause(1);

Status accept_lane(net::Listener& listener, net::Acceptor& acceptor, const net::Token& token,
                   Deadline deadline) {
  Result<net::OwnedFd> socket = listener.accept();
  if (!socket) return socket.status();
  Result<net::Attach> attach = net::read_attach(socket->get(), deadline);
  if (!attach) return attach.status();
  if (attach->token != token) return {Code::kProtocol, "a lane for another endpoint"};
  return acceptor.attach(std::move(*socket), *attach);
}

}  // namespace

Result<net::Listener> listen_unix() {
  Result<net::Token> token = net::Token::random();
  if (!token) return token.status();
  std::string name = "@tf-test-";
  for (const std::uint8_t byte : token->bytes) name += static_cast<char>('a' + byte % 26);
  return net::Listener::open(net::Address::unix_socket(name));
}

Result<net::Listener> listen_tcp() { return net::Listener::open(net::Address::tcp("127.0.0.1", 0)); }

Result<std::unique_ptr<Endpoint>> accept_endpoint(net::Listener& listener, const net::Transport& transport,
                                                  const net::Token& token, Deadline deadline) {
  const std::unique_ptr<net::Acceptor> acceptor = transport.acceptor(token);
  for (;;) {
    Result<std::unique_ptr<Endpoint>> endpoint = acceptor->finish();
    if (!endpoint || *endpoint != nullptr) return endpoint;
    if (deadline.passed()) return Status(Code::kTimeout, "lanes are missing");
    if (!net::wait_readable(listener.fd(), Deadline::after(kFinishPause).sooner(deadline))) continue;
    const Status status = accept_lane(listener, *acceptor, token, deadline);
    if (!status.is_ok() && status.code() != Code::kWouldBlock) return status;
  }
}

Result<EndpointPair> connect_pair(const net::Transport& transport, net::Listener& listener) {
  return connect_pair(transport, transport, listener);
}

Result<EndpointPair> connect_pair(const net::Transport& client_side, const net::Transport& worker_side,
                                  net::Listener& listener) {
  Result<net::Token> token = net::Token::random();
  if (!token) return token.status();
  const Deadline deadline = Deadline::after(kConnectTimeout);
  Result<std::unique_ptr<Endpoint>> server = Status(Code::kInternal, "never ran");
  std::thread accepting([&] { server = accept_endpoint(listener, worker_side, *token, deadline); });
  Result<std::unique_ptr<Endpoint>> client = client_side.connect(listener.address(), *token, deadline);
  accepting.join();
  if (!client) return client.status();
  if (!server) return server.status();
  return EndpointPair{.client = std::move(*client), .server = std::move(*server)};
}

}  // namespace tf::test
