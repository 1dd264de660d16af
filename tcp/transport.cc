// SPDX-License-Identifier: Apache-2.0
// Connects and accepts tcp endpoints of two lanes.
#include "tcp/transport.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tcp/congestion.h"
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
    TF_RETURN_IF_ERROR(expect(attach));
    TF_RETURN_IF_ERROR(net::check_lane(attach, "tcp", session_.token, kKind, expected_));
    net::OwnedFd& place = lanes_[attach.lane];
    if (place || finished_)
      return {Code::kProtocol, "tcp: lane " + std::to_string(attach.lane) + " was attached twice"};
    place = std::move(socket);
    proofs_[attach.lane] = attach.proof;
    return Status::ok();
  }

  Result<std::unique_ptr<Endpoint>> finish() override {
    if (!options_) return options_.status();
    const auto first = lanes_.begin();
    if (expected_ == 0 || !std::all_of(first, first + expected_, [](const auto& lane) { return bool(lane); }))
      return std::unique_ptr<Endpoint>();
    finished_ = true;
    std::vector<net::OwnedFd> sockets(std::make_move_iterator(first),
                                      std::make_move_iterator(first + expected_));
    return make_endpoint(std::move(sockets), options_.value(),
                         {.session = session_.session, .own = secure::Side::kWorker, .proofs = proofs_});
  }

 private:
  // Each lane says how many there are.
  Status expect(const net::Attach& attach) {
    const unsigned lanes = attach.lanes == 0 ? kConnectionsMin : attach.lanes;
    const bool possible = lanes == kConnectionsMin ||
                          (lanes >= connections_for(2) && lanes <= connections_for(kPayloadLanesMax));
    if (!possible || (expected_ != 0 && lanes != expected_))
      return {Code::kProtocol, "tcp: an endpoint of " + std::to_string(lanes) + " lanes is not possible"};
    expected_ = lanes;
    return Status::ok();
  }

  const net::Lanes session_;
  const Result<Options> options_;
  unsigned expected_ = 0;  // lanes; 0 until the first one says it
  std::array<net::OwnedFd, kConnectionsMax> lanes_;
  std::array<secure::Proof, kConnectionsMax> proofs_{};
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

  std::vector<std::string> details() const override {
    if (!options_) return {};
    const Options& options = options_.value();
    const std::string lanes = options.payload_lanes == 1
                                  ? "one connection for all payload"
                                  : std::to_string(options.payload_lanes) + " connections for large payload";
    return {lanes + " (TF_TCP_LANES)",
            "congestion control " + describe_congestion(options.congestion) + " (TF_TCP_CONGESTION)"};
  }

  bool encrypts() const override { return true; }

  Result<std::unique_ptr<Endpoint>> connect(const net::Address& address, const net::Lanes& lanes,
                                            Deadline deadline) const override {
    TF_RETURN_IF_ERROR(available());
    std::vector<net::OwnedFd> sockets;
    Protection protection{.session = lanes.session, .own = secure::Side::kClient};
    net::Lanes all = lanes;
    all.count = connections_for(options_.value().payload_lanes);
    Result<std::vector<net::DialledLane>> dialled = net::dial_lanes(address, all, kKind, deadline);
    if (!dialled) return dialled.status();
    for (net::DialledLane& lane : *dialled) {
      protection.proofs[sockets.size()] = lane.proof;
      sockets.push_back(std::move(lane.socket));
    }
    return make_endpoint(std::move(sockets), options_.value(), protection);
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
