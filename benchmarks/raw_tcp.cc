// SPDX-License-Identifier: Apache-2.0
// The limits of TCP sockets without our code: round trips and streams.
#include "benchmarks/raw_tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include "benchmarks/placement.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::size_t kMessage = 64;
// How a stream is sent and received. What is best depends on caches and on the host's cores: each is tried.
struct Manner {
  std::size_t piece;  // bytes of one send() and recv()
  bool spin;          // the receiver looks for more instead of sleeping
};
constexpr Manner kManners[] = {{64 << 10, false}, {128 << 10, false}, {256 << 10, false}, {1 << 20, false},
                               {64 << 10, true},  {256 << 10, true},  {1 << 20, true}};
constexpr std::size_t kPieceMax = 1 << 20;

void tune(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
}

bool send_all(int socket, const char* data, std::size_t bytes, std::size_t piece = kPieceMax) {
  while (bytes != 0) {
    const ssize_t sent = ::send(socket, data, std::min(bytes, piece), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) {
      data += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
  }
  return true;
}

// `spin`: never sleeps in the kernel.
bool receive_all(int socket, char* data, std::size_t bytes, bool spin, std::size_t piece = kPieceMax) {
  while (bytes != 0) {
    const ssize_t got = ::recv(socket, data, std::min(bytes, piece), spin ? MSG_DONTWAIT : 0);
    if (got == 0) return false;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (got > 0) {
      data += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }
  return true;
}

int connect_to(const sockaddr_in& address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

// Runs `work(index)` on as many threads, and waits for them.
template <typename Work>
void on_threads(std::size_t count, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t index = 1; index < count; ++index) threads.emplace_back([&work, index] { work(index); });
  work(std::size_t{0});
  for (std::thread& thread : threads) thread.join();
}

// Forks a process that runs `serve(socket)` for each of the `count` connections, on a thread of its own.
// Returns our ends; empty after a failure.
template <typename Serve>
std::vector<int> start_server(Serve&& serve, pid_t& child, std::size_t count = 1) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener, static_cast<int>(count)) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    if (listener >= 0) ::close(listener);
    return {};
  }
  child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count == 1) leave_to_another_processor();
    std::vector<int> peers(count);
    for (int& peer : peers) tune(peer = ::accept(listener, nullptr, nullptr));
    on_threads(count, [&](std::size_t index) { serve(peers[index]); });
    ::_exit(0);
  }
  std::vector<int> sockets(count);
  for (int& socket : sockets) {
    socket = connect_to(address);
    if (socket >= 0) tune(socket);
  }
  ::close(listener);
  return sockets;
}

void stop(const std::vector<int>& sockets, pid_t child) {
  for (const int socket : sockets)
    if (socket >= 0) ::close(socket);
  if (child > 0) ::waitpid(child, nullptr, 0);
}

// Median rate of `bytes` streamed, in GB/s; 0 when the connection fails.
double stream_rate(std::vector<char>& memory, Manner manner, double budget_s, unsigned connections) {
  const std::size_t bytes = memory.size() / connections;
  pid_t child = -1;
  const std::vector<int> sockets = start_server(
      [bytes, manner](int peer) {
        std::vector<char> target(bytes);
        while (receive_all(peer, target.data(), bytes, manner.spin, manner.piece) && send_all(peer, "!", 1)) {
        }
      },
      child, connections);
  std::atomic<bool> alive{!sockets.empty()};
  const auto send_share = [&](std::size_t index) {
    char acknowledged = 0;
    if (!send_all(sockets[index], memory.data() + index * bytes, bytes, manner.piece) ||
        !receive_all(sockets[index], &acknowledged, 1, false))
      alive = false;
  };
  // The first thread takes the time, and says when it is over; the others look only when all have come
  // together.
  std::barrier turn(static_cast<std::ptrdiff_t>(connections));
  std::atomic<bool> ended{false};
  double rate = 0;
  const auto once = [&](std::size_t index) {
    turn.arrive_and_wait();
    if (ended) return false;
    if (alive) send_share(index);
    turn.arrive_and_wait();
    return true;
  };
  const auto work = [&](std::size_t index) {
    if (index != 0) {
      while (once(index)) {
      }
      return;
    }
    once(0);
    const Samples samples = repeat(budget_s, 3, 100'000, [&] { once(0); });
    rate = static_cast<double>(bytes) * connections / samples.median() / 1e9;
    ended = true;
    once(0);
  };
  on_threads(connections, work);
  stop(sockets, child);
  return alive ? rate : 0;
}

}  // namespace

double raw_tcp_round_trip_ns(double budget_s) {
  const PinnedHere pinned;
  pid_t child = -1;
  const std::vector<int> sockets = start_server(
      [](int peer) {
        char message[kMessage];
        while (receive_all(peer, message, sizeof message, true) && send_all(peer, message, sizeof message)) {
        }
      },
      child);
  char message[kMessage] = {};
  bool alive = !sockets.empty();
  const int socket = alive ? sockets.front() : -1;
  Samples samples = repeat(budget_s, 100, 1'000'000, [&] {
    alive = alive && send_all(socket, message, sizeof message) &&
            receive_all(socket, message, sizeof message, true);
  });
  stop(sockets, child);
  return alive ? samples.median() * 1e9 : 0;
}

double raw_tcp_stream_gb_per_s(std::uint64_t bytes, double budget_s, unsigned connections) {
  std::optional<PinnedHere> pinned;
  if (connections == 1) pinned.emplace();
  std::vector<char> memory(bytes, 'x');
  double best = 0;
  for (const Manner& manner : kManners)
    best = std::max(
        best, stream_rate(memory, manner, budget_s / static_cast<double>(std::size(kManners)), connections));
  return best;
}

}  // namespace tf::bench
