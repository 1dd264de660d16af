// SPDX-License-Identifier: Apache-2.0
// Writes a request, reads until the server closes, and takes the reply apart.
#include "proxy/base/http_get.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <span>

#include "transport/net/address.h"
#include "transport/net/socket.h"

namespace tf::proxy {
namespace {

constexpr std::chrono::seconds kHttpSlow{5};
constexpr std::string_view kHttpScheme = "http://";

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each > ' ' && each < 0x7f; });
}

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& each : small)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  return small;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// All that the server sends before it closes.
Result<std::string> read_to_end(int socket, Deadline deadline, const std::function<void()>& on_slow) {
  std::string all;
  char some[4096];
  bool told = false;
  for (;;) {
    const ssize_t got = ::recv(socket, some, sizeof some, MSG_DONTWAIT);
    if (got == 0) return all;
    if (got > 0) {
      if (all.size() + static_cast<std::size_t>(got) > kHttpReplyBytesMax)
        return Status(Code::kProtocol,
                      "a reply of more than " + std::to_string(kHttpReplyBytesMax) + " bytes");
      all.append(some, static_cast<std::size_t>(got));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::from_errno("recv", errno);
    const Deadline wait = told || !on_slow ? deadline : deadline.sooner(Deadline::after(kHttpSlow));
    const Status readable = net::wait_readable(socket, wait);
    if (readable.code() == Code::kTimeout && !deadline.passed() && !told && on_slow) {
      told = true;
      on_slow();
      continue;
    }
    TF_RETURN_IF_ERROR(readable);
  }
}

Status no_http(std::string_view what) {
  return {Code::kProtocol, "the reply is not of HTTP/1: " + std::string(what)};
}

// The length that the head promises; none: until the end.
Result<std::optional<std::uint64_t>> promised_length(std::string_view head) {
  std::optional<std::uint64_t> length;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = without_blanks(line.substr(colon + 1));
    if (name == "transfer-encoding") return no_http("HTTP/1.0 has no transfer encodings");
    if (name != "content-length") continue;
    length = number_of(value);
    if (!length) return no_http("a length that is no number");
  }
  return length;
}

Result<HttpReply> take_apart(std::string_view text) {
  // HTTP/1.1 200 OK
  if (!text.starts_with("HTTP/1.") || text.size() < 12 || text[8] != ' ') return no_http("no status");
  const auto status = number_of(text.substr(9, 3));
  if (!status || *status < 100) return no_http("no status");
  std::size_t blank = text.find("\r\n\r\n"), skip = 4;
  if (const std::size_t plain = text.find("\n\n"); plain < blank) blank = plain, skip = 2;
  if (blank == std::string_view::npos) return no_http("no end of its head");
  const std::string_view first_line = text.substr(0, text.find('\n') + 1);
  const std::string_view head = text.substr(first_line.size(), blank + skip - first_line.size());
  std::string_view body = text.substr(blank + skip);
  auto length = promised_length(head);
  if (!length) return length.status();
  if (*length && body.size() < **length) return no_http("it is cut short");
  if (*length) body = body.substr(0, **length);
  return HttpReply{static_cast<int>(*status), std::string(body)};
}

}  // namespace

std::string HttpUrl::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == 80 ? name : name + ":" + std::to_string(port);
}

Result<HttpUrl> parse_http_url(std::string_view text) {
  const auto wrong = [](std::string why) { return Status(Code::kInvalidArgument, std::move(why)); };
  if (text.starts_with("https://")) return wrong("https is not supported, expected http://HOST[:PORT]/PATH");
  if (!text.starts_with(kHttpScheme) || !is_visible(text)) return wrong("expected http://HOST[:PORT]/PATH");
  text.remove_prefix(kHttpScheme.size());
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view place = text.substr(0, end);
  std::string_view target = text.substr(end);
  target = target.substr(0, target.find('#'));
  if (target.size() > kHttpTargetBytesMax) return wrong("the path is too long");
  if (place.find('@') != std::string_view::npos) return wrong("a URL with a user is not supported");
  const bool has_port = place.rfind(':') != std::string_view::npos && !place.ends_with(']');
  auto address = net::Address::parse(has_port ? std::string(place) : std::string(place) + ":80");
  if (place.empty() || !address || address->is_unix()) return wrong("expected http://HOST[:PORT]/PATH");
  HttpUrl url{address->host(), address->port(), std::string(target)};
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

Result<HttpReply> http_get(const HttpUrl& url, std::string_view token, Deadline deadline,
                           const std::function<void()>& on_slow) {
  if (token.size() > kHttpTokenBytesMax || !is_visible(token))
    return Status(Code::kInvalidArgument, "the token cannot stand in a header of HTTP");
  std::string request = "GET " + url.target + " HTTP/1.0\r\nHost: " + url.authority() +
                        "\r\nAccept: text/plain\r\nUser-Agent: hip-remote\r\n";
  if (!token.empty()) request += "Authorization: Bearer " + std::string(token) + "\r\n";
  request += "\r\n";
  Result<net::OwnedFd> socket = net::dial(net::Address::tcp(url.host, url.port), deadline);
  if (!socket) return socket.status();
  TF_RETURN_IF_ERROR(net::write_all(socket->get(), std::as_bytes(std::span(request)), deadline));
  Result<std::string> text = read_to_end(socket->get(), deadline, on_slow);
  if (!text) return text.status();
  return take_apart(*text);
}

}  // namespace tf::proxy
