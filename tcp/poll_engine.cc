// SPDX-License-Identifier: Apache-2.0
// Receiver and Sender over non-blocking recv(2) and send(2).
#include "tcp/poll_engine.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace tf::tcp {
namespace {

class PollReceiver final : public Receiver {
 public:
  explicit PollReceiver(int socket) : socket_(socket) {}

  void start(std::span<std::byte> target) override { target_ = target; }
  bool busy() const override { return !target_.empty(); }

  Result<std::size_t> finish() override {
    if (target_.empty()) return std::size_t{0};
    for (;;) {
      const ssize_t got = ::recv(socket_, target_.data(), target_.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return std::size_t{0};
      const int error = errno;
      target_ = {};
      if (got < 0) return io_failure("recv", error);
      if (got == 0) return end_of_stream();
      return static_cast<std::size_t>(got);
    }
  }

  void cancel() override { target_ = {}; }
  pollfd wait_for() const override { return {.fd = socket_, .events = POLLIN, .revents = 0}; }
  bool uses_ring() const override { return false; }

 private:
  const int socket_;
  std::span<std::byte> target_;
};

class PollSender final : public Sender {
 public:
  explicit PollSender(int socket) : socket_(socket) {}

  void start(std::span<const std::byte> source, bool more) override {
    source_ = source;
    flags_ = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
  }
  bool busy() const override { return !source_.empty(); }

  Result<std::size_t> finish() override {
    if (source_.empty()) return std::size_t{0};
    for (;;) {
      const ssize_t sent = ::send(socket_, source_.data(), source_.size(), flags_);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return std::size_t{0};
      const int error = errno;
      source_ = {};
      if (sent < 0) return io_failure("send", error);
      released_ += static_cast<std::size_t>(sent);
      return static_cast<std::size_t>(sent);
    }
  }

  std::size_t take_released() override { return std::exchange(released_, 0); }
  std::size_t held() const override { return released_; }
  void cancel() override { source_ = {}; }
  pollfd wait_for() const override { return {.fd = socket_, .events = POLLOUT, .revents = 0}; }

 private:
  const int socket_;
  int flags_ = 0;
  std::span<const std::byte> source_;
  std::size_t released_ = 0;
};

}  // namespace

Status io_failure(const char* what, int error_number) {
  const Status status = Status::from_errno(what, error_number);
  const bool lost = error_number == ECONNRESET || error_number == EPIPE || error_number == ETIMEDOUT ||
                    error_number == EHOSTUNREACH || error_number == ENETUNREACH || error_number == ENOTCONN;
  return {lost ? Code::kPeerLost : status.code(), "tcp lane: " + status.message()};
}

Status end_of_stream() { return {Code::kPeerLost, "tcp lane: the peer closed the connection"}; }

LaneIo make_poll_io(int socket) {
  return {.receiver = std::make_unique<PollReceiver>(socket), .sender = std::make_unique<PollSender>(socket)};
}

}  // namespace tf::tcp
