// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: a hostile end of the rdma handshake, towards a worker or towards a client: a Hello with any
// numbers, keys, addresses and sizes, what follows it, and where it falls silent. The attempt ends with an
// endpoint or a reason that can be shown to people; an endpoint finds that its peer is gone; nothing of the
// device, no descriptor and no rule of the verbs is left broken.
//
// Input: u8 way, then a Hello as {u8 place, u8 value}* that change a good one, and bytes behind it. The
// lowest bit of `way`: towards a client.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "rdma/handshake.h"
#include "rdma/transport.h"
#include "tests/fuzz/descriptors.h"
#include "tests/fuzz/wire/input.h"
#include "tests/support/verbs/fake_fabric.h"
#include "transport/net/attach.h"
#include "transport/net/socket.h"

namespace {

using namespace tf;
using namespace std::chrono_literals;

constexpr auto kEndTime = 10s;  // far more than any attempt takes
constexpr std::size_t kChangesMax = 16;

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

struct Fabric {
  Fabric() {
    fabric.set_retry_time(1ms);  // to a peer that is not there
    rdma::Options options;
    options.device.name = "fake0";
    options.setup = {.hello = 5s, .probe = 5s};
    options.loss = {.socket = 5ms, .drain = 5ms};
    transport = rdma::make_transport(*fabric.verbs(), options);
  }
  test::FakeFabric fabric;
  std::unique_ptr<net::Transport> transport;
};

net::Token token() {
  net::Token made;
  made.bytes[0] = 1;
  return made;
}

rdma::Hello plausible() {
  rdma::Hello hello;
  const ibv_gid gid = test::fake_gid("10.9.0.2");
  std::memcpy(hello.gid, gid.raw, sizeof hello.gid);
  hello.mtu = IBV_MTU_1024;
  hello.global = 1;
  hello.reads_asked = hello.reads_answered = 4;
  hello.messages.ring_bytes = rdma::kMessageRingBytes;
  hello.bulk.ring_bytes = rdma::kBulkRingBytes;
  return hello;
}

// What the hostile end says, all of it.
std::vector<std::byte> speech(fuzz::Input& input) {
  rdma::Hello hello = plausible();
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&hello, 1));
  for (std::size_t changes = input.take<std::uint8_t>() % kChangesMax; changes > 0; --changes) {
    const std::size_t place = input.take<std::uint8_t>();
    bytes[place] = input.take<std::byte>();
  }
  std::vector<std::byte> all(bytes.begin(), bytes.end());
  const auto rest = input.take<std::uint8_t>();
  const rdma::Ready ready;
  const auto ready_bytes = std::as_bytes(std::span(&ready, 1));
  if (rest % 2 == 0) all.insert(all.end(), ready_bytes.begin(), ready_bytes.end());
  rdma::Bye bye;
  bye.messages = input.take<std::uint64_t>();
  bye.bulk = input.take<std::uint64_t>();
  const auto bye_bytes = std::as_bytes(std::span(&bye, 1));
  if (rest / 2 % 2 == 0) all.insert(all.end(), bye_bytes.begin(), bye_bytes.end());
  all.insert(all.end(), input.rest().begin(), input.rest().end());
  if (rest / 4 % 4 == 0) all.resize(all.size() * (rest / 16) / 16);
  return all;
}

void expect_fit_for_people(const Status& status) {
  expect(!status.is_ok() && !status.message().empty() && status.message().size() < 1000);
  expect(std::ranges::all_of(status.message(), [](char one) { return one >= ' ' && one <= '~'; }));
}

class Sink final : public MessageSink {
 public:
  Status on_message(const FrameHeader&, std::span<const std::byte>) override {
    expect(false);  // the hostile end has no queue pair
    return Status::ok();
  }
};

// Its peer never had a queue pair, or is gone.
void expect_end(Endpoint& endpoint) {
  Sink sink;
  const Deadline deadline = Deadline::after(kEndTime);
  while (endpoint.status().is_ok()) {
    static_cast<void>(endpoint.poll(sink, 16));
    static_cast<void>(endpoint.bulk().move_payload());
    static_cast<void>(endpoint.wait(Interest::kBoth, Deadline::after(1ms)));
    expect(!deadline.passed());
  }
  expect_fit_for_people(endpoint.status());
}

void finish(Result<std::unique_ptr<Endpoint>> endpoint) {
  if (!endpoint) return expect_fit_for_people(endpoint.status());
  expect(*endpoint != nullptr);
  expect_end(**endpoint);
}

void to_worker(const net::Transport& transport, const std::vector<std::byte>& said) {
  std::array<int, 2> ends{};
  expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  net::OwnedFd near(ends[0]);
  const net::OwnedFd far(ends[1]);
  static_cast<void>(::send(far.get(), said.data(), said.size(), MSG_NOSIGNAL));
  ::shutdown(far.get(), SHUT_WR);
  const std::unique_ptr<net::Acceptor> acceptor = transport.acceptor(token());
  const Status attached = acceptor->attach(std::move(near), {token(), rdma::kKind, 0});
  finish(attached.is_ok() ? acceptor->finish() : attached);
}

// It reads what the client says first, so that its end of the connection is not reset.
void be_worker(net::Listener& listener, const std::vector<std::byte>& said) {
  const Deadline deadline = Deadline::after(kEndTime);
  expect(net::wait_readable(listener.fd(), deadline).is_ok());
  Result<net::OwnedFd> socket = listener.accept();
  expect(socket.is_ok() && net::read_attach(socket->get(), deadline).is_ok());
  expect(rdma::receive_hello(socket->get(), deadline).is_ok());
  static_cast<void>(net::write_all(socket->get(), said, deadline));
  ::shutdown(socket->get(), SHUT_WR);
  std::array<std::byte, 256> rest;
  while (net::read_all(socket->get(), rest, deadline).is_ok()) continue;
}

void to_client(const net::Transport& transport, const std::vector<std::byte>& said) {
  Result<net::Listener> listener = net::Listener::open(net::Address::tcp("127.0.0.1", 0));
  expect(listener.is_ok());
  std::thread worker([&] { be_worker(*listener, said); });
  finish(transport.connect(listener->address(), token(), Deadline::after(kEndTime)));
  worker.join();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Fabric& fabric = *new Fabric;  // its thread outlives statics
  const fuzz::NoneLeft none_left;
  fuzz::Input input(data, size);
  const bool towards_client = input.take<std::uint8_t>() % 2 == 1;
  const std::vector<std::byte> said = speech(input);
  const Deadline deadline = Deadline::after(kEndTime);
  (towards_client ? to_client : to_worker)(*fabric.transport, said);
  expect(!deadline.passed());
  expect(fabric.fabric.live_objects() == 0 && fabric.fabric.violations().empty());
  return 0;
}
