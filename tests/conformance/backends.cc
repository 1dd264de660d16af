// SPDX-License-Identifier: Apache-2.0
// What the suite runs over.
#include "tests/conformance/backends.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "tcp/options.h"
#include "tcp/transport.h"
#include "tests/support/keyed_transport.h"
#include "tests/support/uneven_transport.h"
#include "transport/factory/factory.h"
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

// The same in a session with keys.
Backend keyed_variant(std::string name, const tcp::Options& options, secure::Level level,
                      secure::Cipher cipher = secure::Cipher::kAes128Gcm) {
  const std::shared_ptr<const net::Transport> inner = tcp::make_transport(options);
  const std::shared_ptr<const net::Transport> keyed = test::make_keyed_transport(*inner, level, cipher);
  return {.name = std::move(name),
          .transport = [inner, keyed]() -> const net::Transport& { return *keyed; },
          .listen = test::listen_tcp};
}

tcp::Options with(tcp::EngineKind engine, tcp::UringFeatures features = {}) {
  tcp::Options options;
  options.engine = engine;
  options.features = features;
  return options;
}

// Other threads than the lane's seal and open records, also where there are few processors.
tcp::Options with_helpers(tcp::EngineKind engine) {
  tcp::Options options = with(engine);
  options.crypto_helpers = 2;
  return options;
}

// Large payload over several connections, also where there are few processors.
tcp::Options over_lanes(unsigned lanes, tcp::EngineKind engine = tcp::EngineKind::kAuto,
                        tcp::UringFeatures features = {}) {
  tcp::Options options = with(engine, features);
  options.payload_lanes = lanes;
  return options;
}

// The same options with so many payload lanes.
tcp::Options shared_out(tcp::Options options, unsigned lanes) {
  options.payload_lanes = lanes;
  return options;
}

// Each connection's kernel buffers hold some.
Backend over_lanes_variant(std::string name, const tcp::Options& options) {
  Backend backend = tcp_variant(std::move(name), options, test::listen_tcp);
  backend.more_than_fits = std::size_t{16 << 20} * options.payload_lanes;
  return backend;
}

tcp::Options recoverable(tcp::Options options) {
  options.recoverable = true;
  return options;
}

// One payload lane is worse than the others.
Backend uneven_lanes(std::string name, const tcp::Options& options, const test::Pace& pace) {
  const std::shared_ptr<const net::Transport> inner = tcp::make_transport(options);
  const std::shared_ptr<const net::Transport> uneven =
      test::make_uneven_transport(*inner, tcp::kConnectionsMin, pace);
  return {.name = std::move(name),
          .transport = [inner, uneven]() -> const net::Transport& { return *uneven; },
          .listen = test::listen_tcp,
          .more_than_fits = std::size_t{16 << 20} * (options.payload_lanes + 1)};
}

Backend encrypted_lanes(std::string name, const tcp::Options& options) {
  Backend backend = keyed_variant(std::move(name), options, secure::Level::kEncrypt);
  backend.more_than_fits = std::size_t{16 << 20} * options.payload_lanes;
  return backend;
}

// Far enough that everything is under way for a while, near enough for a suite of so many messages.
std::unique_ptr<Endpoint> shaped(std::unique_ptr<Endpoint> endpoint) {
  Result<shaper::Shape> shape = shaper::parse_shape("rtt=40us,rate=20Gbit");
  if (!shape) return nullptr;
  Result<std::unique_ptr<Endpoint>> made = shaper::make_shaped(std::move(endpoint), *shape);
  return made ? std::move(*made) : nullptr;
}

// Where a worker listens that this transport reaches.
Result<net::Listener> (*listen_for(const net::Transport& transport))() {
  const bool near = transport.reaches(net::Address::unix_socket("@any")).is_ok();
  const bool far = transport.reaches(net::Address::tcp("127.0.0.1", 1)).is_ok();
  return far || !near ? test::listen_tcp : test::listen_unix;
}

// Each transport as programs get it, and far away.
void add_transports(std::vector<Backend>& list) {
  for (const net::Transport* transport : transports()) {
    if (transport->kind() == net::TransportKind::kControl) continue;  // this build has none
    Backend backend{.name = std::string(transport->name()),
                    .transport = [transport]() -> const net::Transport& { return *transport; },
                    .listen = listen_for(*transport)};
    list.push_back(backend);
    backend.name = "shaped_" + backend.name;
    backend.wrap = shaped;
    list.push_back(std::move(backend));
  }
}

std::vector<Backend> make_backends() {
  using Kind = tcp::EngineKind;
  constexpr tcp::UringFeatures kNoMultishot{.multishot_receive = false};
  constexpr tcp::UringFeatures kZeroCopy{.zero_copy_send = true};
  constexpr tcp::UringFeatures kMinimal{
      .multishot_receive = false, .zero_copy_send = false, .registered_files = false};
  std::vector<Backend> list = {
      {.name = "loopback", .transport = {}, .listen = {}},
      {.name = "shaped_loopback", .transport = {}, .listen = {}, .wrap = shaped},
      tcp_variant("tcp_over_unix", with(Kind::kAuto), test::listen_unix),
      tcp_variant("tcp_uring", with(Kind::kUring), test::listen_tcp),
      tcp_variant("tcp_uring_no_multishot", with(Kind::kUring, kNoMultishot), test::listen_tcp),
      tcp_variant("tcp_uring_send_zc", with(Kind::kUring, kZeroCopy), test::listen_tcp),
      tcp_variant("tcp_uring_minimal", with(Kind::kUring, kMinimal), test::listen_tcp),
      tcp_variant("tcp_poll", with(Kind::kPoll), test::listen_tcp),
      over_lanes_variant("tcp_lanes_2", over_lanes(2)),
      over_lanes_variant("tcp_lanes_3_uring", over_lanes(3, Kind::kUring, kZeroCopy)),
      over_lanes_variant("tcp_lanes_8", over_lanes(8)),
      over_lanes_variant("tcp_lanes_1_recoverable", recoverable(over_lanes(1))),
      over_lanes_variant("tcp_lanes_2_recoverable_uring",
                         recoverable(over_lanes(2, Kind::kUring, kZeroCopy))),
      uneven_lanes("tcp_lanes_3_slow_one", over_lanes(3), {.bytes_per_second = 20 << 20}),
      uneven_lanes("tcp_lanes_3_stalling_one", over_lanes(3),
                   {.stall_every_bytes = 512 << 10, .stall = std::chrono::milliseconds(50)}),
      uneven_lanes("tcp_lanes_3_lossy_one", recoverable(over_lanes(3)), {.cut_after_bytes = 200 << 10}),
      encrypted_lanes("tcp_lanes_3_encrypted", over_lanes(3)),
      encrypted_lanes("tcp_lanes_2_encrypted_helped", shared_out(with_helpers(Kind::kAuto), 2)),
      encrypted_lanes("tcp_lanes_2_recoverable_encrypted", recoverable(over_lanes(2))),
      keyed_variant("tcp_proven", with(Kind::kAuto), secure::Level::kAuth),
      keyed_variant("tcp_encrypted", with(Kind::kAuto), secure::Level::kEncrypt),
      keyed_variant("tcp_encrypted_chacha", with(Kind::kAuto), secure::Level::kEncrypt,
                    secure::Cipher::kChaCha20Poly1305),
      keyed_variant("tcp_encrypted_helped", with_helpers(Kind::kPoll), secure::Level::kEncrypt),
      keyed_variant("tcp_encrypted_helped_uring", with_helpers(Kind::kUring), secure::Level::kEncrypt),
      keyed_variant("tcp_encrypted_uring", with(Kind::kUring), secure::Level::kEncrypt),
      keyed_variant("tcp_encrypted_uring_no_multishot", with(Kind::kUring, kNoMultishot),
                    secure::Level::kEncrypt),
  };
  add_transports(list);
  for (Backend& backend : rdma_backends()) list.push_back(std::move(backend));
  return list;
}

}  // namespace

std::span<const Backend> backends() {
  static const std::vector<Backend> list = make_backends();
  return list;
}

}  // namespace tf::conformance
