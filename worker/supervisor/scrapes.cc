// SPDX-License-Identifier: Apache-2.0
// As much HTTP as monitoring needs: one GET or HEAD for each connection, and its answer.
#include "worker/supervisor/scrapes.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace tf::worker {
namespace {

constexpr std::chrono::milliseconds kAcceptPause{200};

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    default: return "Service Unavailable";
  }
}

std::string compose(const ScrapeAnswer& answer, bool with_body = true) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n{}"
      "Connection: close\r\n\r\n{}",
      answer.status, reason_of(answer.status), answer.type, answer.body.size(),
      answer.status == 405 ? "Allow: GET, HEAD\r\n" : "", with_body ? std::string_view(answer.body) : "");
}

// "GET /metrics?name=x HTTP/1.1", the first line of a request.
std::string answer_line(std::string_view line, const Scrapes::Answer& answer) {
  const std::size_t space = line.find(' ');
  const std::size_t end = line.rfind(" HTTP/1.");
  if (space == std::string_view::npos || end == std::string_view::npos || end <= space)
    return compose({.status = 400, .body = "this is no HTTP request\n"});
  const std::string_view method = line.substr(0, space);
  if (method != "GET" && method != "HEAD") return compose({.status = 405, .body = "only GET and HEAD\n"});
  std::string_view path = line.substr(space + 1, end - space - 1);
  path = path.substr(0, path.find('?'));
  return compose(answer(path), method == "GET");
}

}  // namespace

Result<net::Address> Scrapes::parse(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc() && end == text.data() + text.size()) return net::Address::tcp("127.0.0.1", port);
  // An address without a port would be taken for that of a worker.
  if (!text.starts_with("unix:") && (text.find(':') == std::string_view::npos || text.ends_with(']')))
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" is no PORT, HOST:PORT, [IPv6]:PORT or unix:PATH", text));
  return net::Address::parse(text);
}

Status Scrapes::open(const net::Address& address) {
  Result<net::Listener> listener = net::Listener::open(address);
  if (!listener) return listener.status();
  listeners_.push_back(std::move(*listener));
  return Status::ok();
}

void Scrapes::watch(std::vector<pollfd>& polled) {
  first_polled_ = polled.size();
  for (const net::Listener& listener : listeners_)
    polled.push_back({accept_at_.passed() ? listener.fd() : -1, POLLIN, 0});
  for (const Connection& connection : connections_) {
    const short events = connection.answer.empty() ? POLLIN : POLLOUT;
    polled.push_back({connection.socket.get(), events, 0});
  }
}

void Scrapes::progress(const std::vector<pollfd>& polled, const Answer& answer) {
  if (!is_open()) return;
  std::size_t index = first_polled_ + listeners_.size();
  for (auto entry = connections_.begin(); entry != connections_.end(); ++index) {
    const bool due = polled[index].revents != 0;
    const bool over = (due && !serve(*entry, answer)) || entry->deadline.passed();
    entry = over ? connections_.erase(entry) : std::next(entry);
  }
  for (std::size_t each = 0; each < listeners_.size(); ++each)
    if (polled[first_polled_ + each].revents != 0) accept();
}

// A few for each turn; others wait in the kernel.
void Scrapes::accept() {
  for (std::size_t count = 0; count < kScrapesMax; ++count) {
    Result<net::OwnedFd> socket = listeners_.front().accept();
    if (socket.code() == Code::kWouldBlock) return;
    if (!socket) {  // mostly out of descriptors: the listener stays readable, so without a pause this would
                    // spin
      accept_at_ = Deadline::after(kAcceptPause);
      return;
    }
    if (connections_.size() == kScrapesMax) connections_.pop_front();
    connections_.emplace_back().socket = std::move(*socket);
  }
}

bool Scrapes::read(Connection& connection, const Answer& answer) {
  std::array<char, 4096> bytes;
  const ssize_t got = ::recv(connection.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  connection.request.append(bytes.data(), static_cast<std::size_t>(got));
  // The headers say nothing that matters here, but are read: a socket closed over unread bytes is reset.
  if (connection.request.find("\r\n\r\n") != std::string::npos)
    connection.answer = answer_line(connection.request.substr(0, connection.request.find("\r\n")), answer);
  else if (connection.request.size() > kScrapeBytesMax)
    connection.answer = compose({.status = 431, .body = "a request that is too long\n"});
  return true;
}

bool Scrapes::serve(Connection& connection, const Answer& answer) {
  if (connection.answer.empty() && !read(connection, answer)) return false;
  while (connection.sent < connection.answer.size()) {
    const ssize_t sent = ::send(connection.socket.get(), connection.answer.data() + connection.sent,
                                connection.answer.size() - connection.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    connection.sent += static_cast<std::size_t>(sent);
  }
  return connection.answer.empty();
}

Deadline Scrapes::deadline() const {
  Deadline soonest = accept_at_.passed() ? Deadline::never() : accept_at_;
  for (const Connection& connection : connections_) soonest = soonest.sooner(connection.deadline);
  return soonest;
}

void Scrapes::close() {
  connections_.clear();
  listeners_.clear();
}

}  // namespace tf::worker
