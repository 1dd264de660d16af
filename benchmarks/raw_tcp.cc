// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/raw_tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::size_t kMessage = 64;
constexpr std::size_t kPiece = 1 << 20;

void tune(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
}

bool send_all(int socket, const char* data, std::size_t bytes) {
  while (bytes != 0) {
    const ssize_t sent = ::send(socket, data, std::min(bytes, kPiece), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) {
      data += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
  }
  return true;
}

// `spin`: never sleeps in the kernel.
bool receive_all(int socket, char* data, std::size_t bytes, bool spin) {
  while (bytes != 0) {
    const ssize_t got = ::recv(socket, data, std::min(bytes, kPiece), spin ? MSG_DONTWAIT : 0);
    if (got == 0) return false;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (got > 0) {
      data += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }
  return true;
}

// Off the processor that the parent is pinned to, so that the two really run at the same time.
void leave_to_another_processor() {
  const int here = ::sched_getcpu();
  cpu_set_t others;
  CPU_ZERO(&others);
  const auto count = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (int cpu = 0; cpu < count; ++cpu) {
    if (cpu != here) CPU_SET(cpu, &others);
  }
  ::sched_setaffinity(0, sizeof others, &others);
}

int connect_to(const sockaddr_in& address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

// Forks a process that runs `serve(socket)`; returns our end of the connection, or -1.
template <typename Serve>
int start_server(Serve&& serve, pid_t& child) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    if (listener >= 0) ::close(listener);
    return -1;
  }
  child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    leave_to_another_processor();
    const int socket = ::accept(listener, nullptr, nullptr);
    tune(socket);
    serve(socket);
    ::_exit(0);
  }
  const int socket = connect_to(address);
  ::close(listener);
  if (socket >= 0) tune(socket);
  return socket;
}

void stop(int socket, pid_t child) {
  if (socket >= 0) ::close(socket);
  if (child > 0) ::waitpid(child, nullptr, 0);
}

}  // namespace

double raw_tcp_round_trip_ns(double budget_s) {
  pid_t child = -1;
  const int socket = start_server(
      [](int peer) {
        char message[kMessage];
        while (receive_all(peer, message, sizeof message, true) && send_all(peer, message, sizeof message)) {
        }
      },
      child);
  char message[kMessage] = {};
  bool alive = socket >= 0;
  Samples samples = repeat(budget_s, 100, 1'000'000, [&] {
    alive = alive && send_all(socket, message, sizeof message) &&
            receive_all(socket, message, sizeof message, true);
  });
  stop(socket, child);
  return alive ? samples.median() * 1e9 : 0;
}

double raw_tcp_stream_gb_per_s(std::uint64_t bytes, double budget_s) {
  pid_t child = -1;
  const int socket = start_server(
      [bytes](int peer) {
        std::vector<char> memory(bytes);
        while (receive_all(peer, memory.data(), bytes, false) && send_all(peer, "!", 1)) {
        }
      },
      child);
  std::vector<char> memory(bytes, 'x');
  char acknowledged = 0;
  bool alive = socket >= 0;
  auto once = [&] {
    alive = alive && send_all(socket, memory.data(), bytes) && receive_all(socket, &acknowledged, 1, false);
  };
  once();
  Samples samples = repeat(budget_s, 3, 100'000, once);
  stop(socket, child);
  return alive ? static_cast<double>(bytes) / samples.median() / 1e9 : 0;
}

}  // namespace tf::bench
