// SPDX-License-Identifier: Apache-2.0
// Connects and accepts tcp endpoints.
#include "tcp/transport.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tcp/congestion.h"
#include "tcp/endpoint.h"
#include "tcp/engine.h"
#include "tcp/probe.h"
#include "tcp/rails.h"
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
    TF_RETURN_IF_ERROR(net::check_lane(attach, "tcp", session_.token, kKind, layout_->connections()));
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
    const unsigned count = layout_ ? layout_->connections() : 0;
    if (count == 0 || !std::all_of(first, first + count, [](const auto& lane) { return bool(lane); }))
      return std::unique_ptr<Endpoint>();
    finished_ = true;
    std::vector<net::OwnedFd> sockets(std::make_move_iterator(first), std::make_move_iterator(first + count));
    Options options = options_.value();
    options.recoverable = layout_->recoverable;
    return make_endpoint(std::move(sockets), options,
                         {.session = session_.session, .own = secure::Side::kWorker, .proofs = proofs_});
  }

 private:
  // Each lane says what lanes there are.
  Status expect(const net::Attach& attach) {
    const Result<Layout> layout = Layout::from_attach(attach.lanes);
    if (!layout) return layout.status();
    if (layout_ && layout_->to_attach() != layout.value().to_attach())
      return {Code::kProtocol, "tcp: a lane of an endpoint with other lanes"};
    layout_ = layout.value();
    return Status::ok();
  }

  const net::Lanes session_;
  const Result<Options> options_;
  std::optional<Layout> layout_;  // none until the first lane says it
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
    std::vector<std::string> details = {lanes + " (TF_TCP_LANES)"};
    std::string rails;
    for (const net::Address& rail : options.rails) rails += (rails.empty() ? "to " : ", ") + rail.host();
    if (!rails.empty()) details.push_back("large payload goes " + rails + " (TF_TCP_RAILS)");
    details.push_back("congestion control " + describe_congestion(options.congestion) +
                      " (TF_TCP_CONGESTION)");
    return details;
  }

  bool encrypts() const override { return true; }

  Result<std::unique_ptr<Endpoint>> connect(const net::Address& address, const net::Lanes& lanes,
                                            Deadline deadline) const override {
    TF_RETURN_IF_ERROR(available());
    const Options& options = options_.value();
    const Layout layout{.payload_lanes = options.payload_lanes, .recoverable = options.recoverable};
    Result<DialledRails> rails = dial_rails(address, options.rails, layout, deadline);
    if (!rails) return rails.status();
    net::Lanes all = lanes;
    all.layout = layout.to_attach();
    Result<std::vector<net::DialledLane>> attached =
        net::attach_lanes(std::move(rails->sockets), all, kKind, deadline);
    if (!attached) return attached.status();
    std::vector<net::OwnedFd> sockets;
    Protection protection{.session = lanes.session, .own = secure::Side::kClient};
    for (net::DialledLane& lane : *attached) {
      protection.proofs[sockets.size()] = lane.proof;
      sockets.push_back(std::move(lane.socket));
    }
    return make_endpoint(std::move(sockets), options, protection, std::move(rails->remarks));
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
