// SPDX-License-Identifier: Apache-2.0
// Connects and accepts tcp endpoints of two lanes.
#include "tcp/transport.h"

#include <array>
#include <string>
#include <utility>

#include "tcp/endpoint.h"
#include "tcp/engine.h"
#include "tcp/probe.h"
#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

class TcpAcceptor final : public net::Acceptor {
 public:
  TcpAcceptor(net::Lanes lanes, Result<Options> options)
      : session_(std::move(lanes)), options_(std::move(options)) {}

  Status attach(net::OwnedFd socket, const net::Attach& attach) override {
    if (!options_) return options_.status();
    TF_RETURN_IF_ERROR(net::check_lane(attach, "tcp", session_.token, kKind, kLanes));
    net::OwnedFd& place = lanes_[attach.lane];
    if (place || finished_)
      return {Code::kProtocol, "tcp: lane " + std::to_string(attach.lane) + " was attached twice"};
    place = std::move(socket);
    proofs_[attach.lane] = attach.proof;
    return Status::ok();
  }

  Result<std::unique_ptr<Endpoint>> finish() override {
    if (!options_) return options_.status();
    if (!lanes_[0] || !lanes_[1]) return std::unique_ptr<Endpoint>();
    finished_ = true;
    return make_endpoint(std::move(lanes_[0]), std::move(lanes_[1]), options_.value(),
                         {.session = session_.session, .own = secure::Side::kWorker, .proofs = proofs_});
  }

 private:
  const net::Lanes session_;
  const Result<Options> options_;
  std::array<net::OwnedFd, kLanes> lanes_;
  std::array<secure::Proof, kLanes> proofs_{};
  bool finished_ = false;
};

class TcpTransport final : public net::Transport {
 public:
  explicit TcpTransport(Result<Options> options) : options_(std::move(options)) {}

  std::string_view name() const override { return "tcp"; }
  net::TransportKind kind() const override { return kKind; }
  Status available() const override {
    if (!options_) return options_.status();
    return options_.value().engine == EngineKind::kUring ? probe().available : Status::ok();
  }
  Status reaches(const net::Address&) const override { return Status::ok(); }

  bool encrypts() const override { return true; }

  Result<std::unique_ptr<Endpoint>> connect(const net::Address& address, const net::Lanes& lanes,
                                            Deadline deadline) const override {
    TF_RETURN_IF_ERROR(available());
    std::array<net::OwnedFd, kLanes> sockets;
    Protection protection{.session = lanes.session, .own = secure::Side::kClient};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      Result<net::DialledLane> dialled = net::dial_lane(address, lanes, kKind, lane, deadline);
      if (!dialled) return dialled.status();
      sockets[lane] = std::move(dialled->socket);
      protection.proofs[lane] = dialled->proof;
    }
    return make_endpoint(std::move(sockets[0]), std::move(sockets[1]), options_.value(), protection);
  }

  std::unique_ptr<net::Acceptor> acceptor(const net::Lanes& lanes) const override {
    return std::make_unique<TcpAcceptor>(lanes, options_);
  }

 private:
  const Result<Options> options_;
};

}  // namespace

const net::Transport& transport() {
  // Never destroyed: at the program's end its other threads may still connect.
  static const TcpTransport& instance = *new TcpTransport(options_from_environment());
  return instance;
}

std::unique_ptr<net::Transport> make_transport(const Options& options) {
  return std::make_unique<TcpTransport>(options);
}

}  // namespace tf::tcp
