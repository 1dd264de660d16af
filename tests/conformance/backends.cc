// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/backends.h"

#include <memory>
#include <utility>
#include <vector>

#include "shm/transport.h"
#include "tcp/options.h"
#include "tcp/transport.h"
#include "transport/shaper/endpoint.h"

namespace tf::conformance {
namespace {

// tcp with settings of its own; the transport lives as long as the program.
Backend tcp_variant(std::string name, const tcp::Options& options, Result<net::Listener> (*listen)()) {
  const std::shared_ptr<const net::Transport> transport = tcp::make_transport(options);
  return {.name = std::move(name),
          .transport = [transport]() -> const net::Transport& { return *transport; },
          .listen = listen};
}

tcp::Options with(tcp::EngineKind engine, tcp::UringFeatures features = {}) {
  tcp::Options options;
  options.engine = engine;
  options.features = features;
  return options;
}

// Far enough that everything is under way for a while, near enough for a suite of so many messages.
std::unique_ptr<Endpoint> shaped(std::unique_ptr<Endpoint> endpoint) {
  Result<shaper::Shape> shape = shaper::parse_shape("rtt=40us,rate=20Gbit");
  if (!shape) return nullptr;
  Result<std::unique_ptr<Endpoint>> made = shaper::make_shaped(std::move(endpoint), *shape);
  return made ? std::move(*made) : nullptr;
}

Backend shaped_tcp() {
  Backend backend = tcp_variant("shaped_tcp", with(tcp::EngineKind::kAuto), test::listen_tcp);
  backend.wrap = shaped;
  return backend;
}

std::vector<Backend> make_backends() {
  using Kind = tcp::EngineKind;
  constexpr tcp::UringFeatures kNoMultishot{.multishot_receive = false};
  constexpr tcp::UringFeatures kZeroCopy{.zero_copy_send = true};
  constexpr tcp::UringFeatures kMinimal{
      .multishot_receive = false, .zero_copy_send = false, .registered_files = false};
  std::vector<Backend> list = {
      {.name = "loopback", .transport = {}, .listen = {}},
      {.name = "shm", .transport = shm::transport, .listen = test::listen_unix},
      tcp_variant("tcp", with(Kind::kAuto), test::listen_tcp),
      tcp_variant("tcp_over_unix", with(Kind::kAuto), test::listen_unix),
      tcp_variant("tcp_uring", with(Kind::kUring), test::listen_tcp),
      tcp_variant("tcp_uring_no_multishot", with(Kind::kUring, kNoMultishot), test::listen_tcp),
      tcp_variant("tcp_uring_send_zc", with(Kind::kUring, kZeroCopy), test::listen_tcp),
      tcp_variant("tcp_uring_minimal", with(Kind::kUring, kMinimal), test::listen_tcp),
      tcp_variant("tcp_poll", with(Kind::kPoll), test::listen_tcp),
      {.name = "shaped_loopback", .transport = {}, .listen = {}, .wrap = shaped},
      {.name = "shaped_shm", .transport = shm::transport, .listen = test::listen_unix, .wrap = shaped},
      shaped_tcp(),
  };
  for (Backend& backend : rdma_backends()) list.push_back(std::move(backend));
  return list;
}

}  // namespace

std::span<const Backend> backends() {
  static const std::vector<Backend> list = make_backends();
  return list;
}

}  // namespace tf::conformance
