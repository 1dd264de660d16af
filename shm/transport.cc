// SPDX-License-Identifier: Apache-2.0
// Connects and accepts shm endpoints over a Unix socket.
#include "shm/transport.h"

#include <string>
#include <utility>

#include "shm/endpoint.h"
#include "shm/handshake.h"
#include "transport/net/socket.h"

namespace tf::shm {
namespace {

constexpr std::chrono::seconds kOfferTimeout{5};

class ShmAcceptor final : public net::Acceptor {
 public:
  explicit ShmAcceptor(const net::Token& token) : token_(token) {}

  Status attach(net::OwnedFd socket, const net::Attach& attach) override {
    Status status = check(attach);
    if (status.is_ok()) status = make(socket);
    if (!status.is_ok()) refuse_segment(socket.get(), status);
    return status;
  }

  Result<std::unique_ptr<Endpoint>> finish() override { return std::move(endpoint_); }

 private:
  Status check(const net::Attach& attach) const {
    TF_RETURN_IF_ERROR(net::check_lane(attach, "shm", token_, kKind, 1));
    if (attached_) return {Code::kProtocol, "shm: lane 0 is attached already"};
    return Status::ok();
  }

  // Takes ownership of the socket on success.
  Status make(net::OwnedFd& socket) {
    Result<Segment> segment = offer_segment(socket.get(), Deadline::after(kOfferTimeout));
    if (!segment) return segment.status();
    Result<std::unique_ptr<Endpoint>> endpoint =
        make_endpoint(std::move(*segment), std::move(socket), Side::kWorker);
    if (!endpoint) return endpoint.status();
    endpoint_ = std::move(*endpoint);
    attached_ = true;
    return Status::ok();
  }

  net::Token token_;
  bool attached_ = false;
  std::unique_ptr<Endpoint> endpoint_;
};

class ShmTransport final : public net::Transport {
 public:
  std::string_view name() const override { return "shm"; }
  net::TransportKind kind() const override { return kKind; }
  Status available() const override { return segments_available(); }

  Status reaches(const net::Address& address) const override {
    if (address.is_unix()) return Status::ok();
    return {Code::kUnavailable,
            "shm needs a worker's Unix socket (unix:PATH), not the TCP address " + address.to_string()};
  }

  Result<std::unique_ptr<Endpoint>> connect(const net::Address& address, const net::Lanes& lanes,
                                            Deadline deadline) const override {
    TF_RETURN_IF_ERROR(reaches(address));
    Result<net::DialledLane> lane = net::dial_lane(address, lanes, kKind, 0, deadline);
    if (!lane) return lane.status();
    net::OwnedFd& socket = lane->socket;
    TF_RETURN_IF_ERROR(check_worker(socket.get(), address));
    Result<Segment> segment = receive_segment(socket.get(), deadline);
    if (!segment) return segment.status();
    return make_endpoint(std::move(*segment), std::move(socket), Side::kClient);
  }

  std::unique_ptr<net::Acceptor> acceptor(const net::Lanes& lanes) const override {
    return std::make_unique<ShmAcceptor>(lanes.token);
  }
};

}  // namespace

const net::Transport& transport() {
  // Never destroyed: at the program's end its other threads may still connect.
  static const ShmTransport& instance = *new ShmTransport;
  return instance;
}

}  // namespace tf::shm
