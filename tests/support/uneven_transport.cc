// SPDX-License-Identifier: Apache-2.0
#include "tests/support/uneven_transport.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "transport/net/socket.h"

namespace tf::test {
namespace {

constexpr std::chrono::seconds kRelayLimit{5};
// Few, so that the relay adds little to what may be on its way.
constexpr std::size_t kRelayBytes = 16 << 10;

// The two connections that a lane has become.
class Relay {
 public:
  Relay(net::OwnedFd clients, net::OwnedFd workers, const Pace& pace)
      : ends_{std::move(clients), std::move(workers)}, pace_(pace) {
    threads_[0] = std::thread([this] { forward(ends_[0].get(), ends_[1].get()); });
    threads_[1] = std::thread([this] { forward(ends_[1].get(), ends_[0].get()); });
  }
  ~Relay() {
    for (std::thread& each : threads_) each.join();
  }

 private:
  void forward(int from, int to) {
    std::array<std::byte, kRelayBytes> buffer;
    std::size_t passed = 0;
    for (;;) {
      if (!net::wait_readable(from, Deadline::never()).is_ok()) break;
      const ssize_t got = ::recv(from, buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      const auto bytes = static_cast<std::size_t>(got);
      if (pace_.cut_after_bytes != 0 && passed + bytes > pace_.cut_after_bytes) {
        cut();
        return ended();
      }
      pause(passed, bytes);
      passed += bytes;
      if (!net::write_all(to, std::span(buffer).first(bytes), Deadline::after(kRelayLimit)).is_ok()) break;
    }
    ::shutdown(to, SHUT_WR);
    ::shutdown(from, SHUT_RD);
    ended();
  }
  // Who ends last closes both.
  void ended() {
    if (++ended_ == 2)
      for (net::OwnedFd& each : ends_) each.reset();
  }
  void pause(std::size_t passed, std::size_t bytes) const {
    if (pace_.bytes_per_second != 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(1'000'000'000 * bytes / pace_.bytes_per_second));
    const std::size_t every = pace_.stall_every_bytes;
    if (every != 0 && passed / every != (passed + bytes) / every) std::this_thread::sleep_for(pace_.stall);
  }
  void cut() const {
    for (const net::OwnedFd& each : ends_) {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(each.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      ::shutdown(each.get(), SHUT_RDWR);
    }
  }

  std::array<net::OwnedFd, 2> ends_;
  const Pace pace_;
  std::atomic<int> ended_{0};
  std::array<std::thread, 2> threads_;
};

// Its threads end with the connections.
class Relays {
 public:
  void add(net::OwnedFd clients, net::OwnedFd workers, const Pace& pace) {
    const std::lock_guard lock(mutex_);
    relays_.push_back(std::make_unique<Relay>(std::move(clients), std::move(workers), pace));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Relay>> relays_;
};

Result<std::pair<net::OwnedFd, net::OwnedFd>> tcp_pair() {
  Result<net::Listener> listener = net::Listener::open(net::Address::tcp("127.0.0.1", 0));
  if (!listener) return listener.status();
  Result<net::OwnedFd> dialled = net::dial(listener->address(), Deadline::after(kRelayLimit));
  if (!dialled) return dialled.status();
  TF_RETURN_IF_ERROR(net::wait_readable(listener->fd(), Deadline::after(kRelayLimit)));
  Result<net::OwnedFd> accepted = listener->accept();
  if (!accepted) return accepted.status();
  return std::pair(std::move(*dialled), std::move(*accepted));
}

struct Unevenness {
  std::uint32_t lane = 0;
  Pace pace;
  std::shared_ptr<Relays> relays = std::make_shared<Relays>();
};

class UnevenAcceptor final : public net::Acceptor {
 public:
  UnevenAcceptor(std::unique_ptr<net::Acceptor> inner, Unevenness uneven)
      : inner_(std::move(inner)), uneven_(std::move(uneven)) {}

  Status attach(net::OwnedFd socket, const net::Attach& attach) override {
    if (attach.lane != uneven_.lane) return inner_->attach(std::move(socket), attach);
    Result<std::pair<net::OwnedFd, net::OwnedFd>> pair = tcp_pair();
    if (!pair) return pair.status();
    uneven_.relays->add(std::move(socket), std::move(pair->second), uneven_.pace);
    return inner_->attach(std::move(pair->first), attach);
  }
  Result<std::unique_ptr<Endpoint>> finish() override { return inner_->finish(); }

 private:
  const std::unique_ptr<net::Acceptor> inner_;
  const Unevenness uneven_;
};

class UnevenTransport final : public net::Transport {
 public:
  UnevenTransport(const net::Transport& inner, Unevenness uneven)
      : inner_(inner), uneven_(std::move(uneven)) {}

  std::string_view name() const override { return inner_.name(); }
  net::TransportKind kind() const override { return inner_.kind(); }
  Status available() const override { return inner_.available(); }
  Status reaches(const net::Address& address) const override { return inner_.reaches(address); }
  bool encrypts() const override { return inner_.encrypts(); }
  Result<std::unique_ptr<Endpoint>> connect(const net::Address& address, const net::Lanes& lanes,
                                            Deadline deadline) const override {
    return inner_.connect(address, lanes, deadline);
  }
  std::unique_ptr<net::Acceptor> acceptor(const net::Lanes& lanes) const override {
    return std::make_unique<UnevenAcceptor>(inner_.acceptor(lanes), uneven_);
  }

 private:
  const net::Transport& inner_;
  const Unevenness uneven_;
};

}  // namespace

std::unique_ptr<net::Transport> make_uneven_transport(const net::Transport& inner, std::uint32_t lane,
                                                      const Pace& pace) {
  return std::make_unique<UnevenTransport>(inner, Unevenness{.lane = lane, .pace = pace});
}

}  // namespace tf::test
