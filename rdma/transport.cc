// SPDX-License-Identifier: Apache-2.0
// Connects and accepts rdma endpoints over a lane's socket.
#include "rdma/transport.h"

#include <string>
#include <utility>

#include "rdma/endpoint.h"
#include "rdma/handshake.h"
#include "rdma/regions.h"
#include "transport/net/socket.h"

namespace tf::rdma {
namespace {

// Verbs and options, or why there are none.
struct Setup {
  const Verbs* verbs = nullptr;
  Options options;
};

Result<std::unique_ptr<Plane>> make_plane(const Device& device, std::size_t ring_bytes, bool wake_for_sends) {
  return Plane::create(device.verbs(), {.context = device.context(),
                                        .pd = device.pd(),
                                        .port = device.path().port,
                                        .inline_bytes = device.limits().inline_bytes,
                                        .ring_bytes = ring_bytes,
                                        .wake_for_sends = wake_for_sends});
}

// The device, if one request of it can move a whole ring.
Result<std::unique_ptr<Device>> open_device(const Setup& setup) {
  Result<std::unique_ptr<Device>> device = Device::open(*setup.verbs, setup.options.device);
  if (!device) return device;
  const std::size_t most = (*device)->limits().message_bytes;
  if (most >= kMessageRingBytes) return device;
  return Status{Code::kUnavailable, "rdma: " + (*device)->describe() + " moves " + std::to_string(most) +
                                        " bytes by a request at most, " + std::to_string(kMessageRingBytes) +
                                        " are needed"};
}

// Checks that we may lock as much memory as an endpoint needs from the start.
Status check_memory(const Device& device) {
  const std::size_t slots = device.limits().on_demand ? 0 : kSlotsBytes;
  Result<Pages> pages = Pages::map(2 * (kMessageRingBytes + kBulkRingBytes) + slots);
  if (!pages) return pages.status();
  return Registration::make(device.verbs(), device.pd(), pages->memory(), IBV_ACCESS_LOCAL_WRITE).status();
}

// One end of an endpoint that is being set up.
class Opening {
 public:
  static Result<Opening> make(const Setup& setup) {
    Result<std::unique_ptr<Device>> device = open_device(setup);
    if (!device) return device.status();
    Result<std::unique_ptr<Plane>> messages = make_plane(**device, kMessageRingBytes, false);
    if (!messages) return messages.status();
    Result<std::unique_ptr<Plane>> bulk = make_plane(**device, kBulkRingBytes, true);
    if (!bulk) return bulk.status();
    Opening made;
    made.retries_ = setup.options.retries;
    made.probe_limit_ = setup.options.setup.probe;
    made.parts_ = {.device = std::move(*device),
                   .messages = std::move(*messages),
                   .bulk = std::move(*bulk),
                   .socket = {},
                   .patience = setup.options.loss};
    return made;
  }

  Hello hello() const { return make_hello(*parts_.device, parts_.messages->facts(), parts_.bulk->facts()); }

  Status connect(const Hello& peer) {
    TF_RETURN_IF_ERROR(parts_.messages->check_facts(peer.messages));
    TF_RETURN_IF_ERROR(parts_.bulk->check_facts(peer.bulk));
    const Result<Route> route = route_between(*parts_.device, peer, retries_);
    if (!route) return route.status();
    TF_RETURN_IF_ERROR(parts_.messages->connect(route.value(), peer.messages));
    return parts_.bulk->connect(route.value(), peer.bulk);
  }

  // Checks that the fabric reaches the peer, whose queue pairs are ready.
  Status probe(Deadline deadline) {
    Status status = parts_.messages->producer().finish(deadline.sooner(Deadline::after(probe_limit_)));
    if (status.is_ok()) return status;
    return {status.code(), status.message() + "; from " + parts_.device->describe()};
  }

  // Takes ownership of the socket.
  Result<std::unique_ptr<Endpoint>> finish(net::OwnedFd& socket, Side side) {
    parts_.socket = std::move(socket);
    return make_endpoint(std::move(parts_), side);
  }

 private:
  Parts parts_;
  Retries retries_;
  std::chrono::milliseconds probe_limit_{};
};

class RdmaAcceptor final : public net::Acceptor {
 public:
  RdmaAcceptor(const net::Token& token, Result<Setup> setup) : token_(token), setup_(std::move(setup)) {}

  Status attach(net::OwnedFd socket, const net::Attach& attach) override {
    Status status = check(attach);
    if (status.is_ok()) status = make(socket);
    if (!status.is_ok() && socket) refuse(socket.get(), status);
    return status;
  }

  Result<std::unique_ptr<Endpoint>> finish() override { return std::move(endpoint_); }

 private:
  Status check(const net::Attach& attach) const {
    if (!setup_) return setup_.status();
    TF_RETURN_IF_ERROR(net::check_lane(attach, "rdma", token_, kKind, 1));
    if (attached_) return {Code::kProtocol, "rdma: lane 0 is attached already"};
    return Status::ok();
  }

  // Takes ownership of the socket on success.
  Status make(net::OwnedFd& socket) {
    attached_ = true;
    const Deadline deadline = Deadline::after(setup_.value().options.setup.hello);
    const Result<Hello> peer = receive_hello(socket.get(), deadline);
    if (!peer) return peer.status();
    Result<Opening> opening = Opening::make(setup_.value());
    if (!opening) return opening.status();
    TF_RETURN_IF_ERROR(opening->connect(peer.value()));
    TF_RETURN_IF_ERROR(send_hello(socket.get(), opening->hello(), deadline));
    TF_RETURN_IF_ERROR(receive_ready(socket.get(), deadline));
    Result<std::unique_ptr<Endpoint>> endpoint = opening->finish(socket, Side::kWorker);
    if (!endpoint) return endpoint.status();
    endpoint_ = std::move(*endpoint);
    return Status::ok();
  }

  const net::Token token_;
  const Result<Setup> setup_;
  bool attached_ = false;
  std::unique_ptr<Endpoint> endpoint_;
};

class RdmaTransport final : public net::Transport {
 public:
  explicit RdmaTransport(Result<Setup> setup) : setup_(std::move(setup)) {}

  std::string_view name() const override { return "rdma"; }
  net::TransportKind kind() const override { return kKind; }

  Status available() const override {
    if (!setup_) return setup_.status();
    Result<std::unique_ptr<Device>> device = open_device(setup_.value());
    return device ? check_memory(**device) : device.status();
  }

  std::vector<std::string> details() const override {
    return setup_ ? describe_devices(*setup_.value().verbs) : std::vector<std::string>();
  }

  Status reaches(const net::Address& address) const override {
    if (!address.is_unix()) return Status::ok();
    return {Code::kUnavailable, "rdma needs a worker's TCP address (host:port), not " + address.to_string()};
  }

  Result<std::unique_ptr<Endpoint>> connect(const net::Address& address, const net::Lanes& lanes,
                                            Deadline deadline) const override {
    if (!setup_) return setup_.status();
    TF_RETURN_IF_ERROR(reaches(address));
    Result<Opening> opening = Opening::make(setup_.value());
    if (!opening) return opening.status();
    Result<net::DialledLane> lane = net::dial_lane(address, lanes, kKind, 0, deadline);
    if (!lane) return lane.status();
    net::OwnedFd& socket = lane->socket;
    TF_RETURN_IF_ERROR(send_hello(socket.get(), opening->hello(), deadline));
    const Result<Hello> peer = receive_hello(socket.get(), deadline);
    if (!peer) return peer.status();
    TF_RETURN_IF_ERROR(opening->connect(peer.value()));
    TF_RETURN_IF_ERROR(opening->probe(deadline));
    TF_RETURN_IF_ERROR(send_ready(socket.get(), deadline));
    return opening->finish(socket, Side::kClient);
  }

  std::unique_ptr<net::Acceptor> acceptor(const net::Lanes& lanes) const override {
    return std::make_unique<RdmaAcceptor>(lanes.token, setup_);
  }

 private:
  const Result<Setup> setup_;
};

Result<Setup> setup_from_environment() {
  const Result<const Verbs*> verbs = load_verbs();
  if (!verbs) return verbs.status();
  Result<Options> options = options_from_environment();
  if (!options) return options.status();
  return Setup{verbs.value(), std::move(*options)};
}

}  // namespace

Result<Options> options_from_environment() {
  Result<DeviceOptions> device = device_options_from_environment();
  if (!device) return device.status();
  const Result<Retries> retries = retries_from_environment();
  if (!retries) return retries.status();
  return Options{.device = std::move(*device), .retries = retries.value(), .setup = {}, .loss = {}};
}

const net::Transport& transport() {
  // Never destroyed: at the program's end its other threads may still connect.
  static const RdmaTransport& instance = *new RdmaTransport(setup_from_environment());
  return instance;
}

std::unique_ptr<net::Transport> make_transport(const Verbs& verbs, const Options& options) {
  return std::make_unique<RdmaTransport>(Setup{&verbs, options});
}

}  // namespace tf::rdma
