// SPDX-License-Identifier: Apache-2.0
#include "tests/support/keyed_transport.h"

#include <chrono>
#include <utility>

#include "transport/secure/session.h"

namespace tf::test {
namespace {

constexpr std::chrono::milliseconds kProofTime{500};

class KeyedAcceptor final : public net::Acceptor {
 public:
  KeyedAcceptor(std::unique_ptr<net::Acceptor> inner, net::Lanes lanes)
      : inner_(std::move(inner)), lanes_(std::move(lanes)) {}

  Status attach(net::OwnedFd socket, const net::Attach& attach) override {
    net::Attach proven = attach;
    TF_RETURN_IF_ERROR(net::accept_proof(socket.get(), lanes_, proven, Deadline::after(kProofTime)));
    return inner_->attach(std::move(socket), proven);
  }
  Result<std::unique_ptr<Endpoint>> finish() override { return inner_->finish(); }

 private:
  const std::unique_ptr<net::Acceptor> inner_;
  const net::Lanes lanes_;
};

class KeyedTransport final : public net::Transport {
 public:
  KeyedTransport(const net::Transport& inner, std::shared_ptr<const secure::Session> session)
      : inner_(inner), session_(std::move(session)) {}

  std::string_view name() const override { return inner_.name(); }
  net::TransportKind kind() const override { return inner_.kind(); }
  Status available() const override {
    TF_RETURN_IF_ERROR(secure::load_library());
    return inner_.available();
  }
  Status reaches(const net::Address& address) const override { return inner_.reaches(address); }
  bool encrypts() const override { return inner_.encrypts(); }
  Result<std::unique_ptr<Endpoint>> connect(const net::Address& address, const net::Lanes& lanes,
                                            Deadline deadline) const override {
    return inner_.connect(address, {lanes.token, session_}, deadline);
  }
  std::unique_ptr<net::Acceptor> acceptor(const net::Lanes& lanes) const override {
    const net::Lanes keyed(lanes.token, session_);
    return std::make_unique<KeyedAcceptor>(inner_.acceptor(keyed), keyed);
  }

 private:
  const net::Transport& inner_;
  const std::shared_ptr<const secure::Session> session_;
};

}  // namespace

std::unique_ptr<net::Transport> make_keyed_transport(const net::Transport& inner, secure::Level level,
                                                     secure::Cipher cipher) {
  auto session = std::make_shared<secure::Session>();
  session->level = level;
  session->cipher = cipher;
  session->secret.data()[0] = 42;  // any; both processes of a test know it
  return std::make_unique<KeyedTransport>(inner, std::move(session));
}

}  // namespace tf::test
