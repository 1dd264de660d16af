// SPDX-License-Identifier: Apache-2.0
// Parses, prints and resolves addresses.
#include "transport/net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace tf::net {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::size_t kHostBytesMax = 253;  // of a DNS name

// Guesses what was meant: a path or @name without its prefix, or a URL.
std::string likely(std::string_view text) {
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    text.remove_prefix(scheme + 3);
    if (text.starts_with('/')) return std::string(kUnixPrefix) + std::string(text);
    return std::string(text.substr(0, text.find('/')));
  }
  if (text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text.starts_with('@'))
    return std::string(kUnixPrefix) + std::string(text);
  return {};
}

Status bad_address(std::string_view text, std::string_view why) {
  std::string message = "address \"";
  message += text.substr(0, kHostBytesMax);
  message += "\": ";
  message += why;
  if (const std::string meant = likely(text); !meant.empty() && meant.size() <= kHostBytesMax)
    message += "; did you mean " + meant + "?";
  else
    message += "; accepted: unix:/path, unix:@name, host:port, host, [IPv6]:port";
  return {Code::kInvalidArgument, std::move(message)};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// Splits "host:port", "host", "[v6]:port", "[v6]" and a bare "v6". False: not of these forms.
bool split_host_port(std::string_view text, std::string_view& host, std::optional<std::string_view>& port) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return false;
    if (!rest.empty()) port = rest.substr(1);
    return host.find(':') != std::string_view::npos;
  }
  const std::size_t colon = text.find(':');
  host = text.substr(0, colon);
  if (colon == std::string_view::npos) return true;
  if (text.find(':', colon + 1) != std::string_view::npos)
    host = text;  // two colons without brackets: a bare IPv6 address
  else
    port = text.substr(colon + 1);
  return true;
}

bool is_ipv6(const std::string& host) { return host.find(':') != std::string::npos; }

Result<std::vector<SocketAddress>> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return bad_address("unix:" + path, "the path of a Unix socket has 1 to 107 bytes");
  std::memcpy(address.sun_path, path.data(), path.size());
  const bool abstract = path.front() == '@';
  if (abstract) address.sun_path[0] = '\0';
  SocketAddress result;
  // A file's path is terminated, an abstract name is exactly as long as the length says.
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  std::memcpy(&result.storage, &address, sizeof address);
  return std::vector<SocketAddress>{result};
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return bad_address(text, "it contains a zero byte");
  if (text.starts_with(kUnixPrefix)) {
    const std::string_view path = text.substr(kUnixPrefix.size());
    if (path.empty() || path == "@") return bad_address(text, "the path is empty");
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      return bad_address(text, "the path is longer than 107 bytes");
    return unix_socket(path);
  }
  std::string_view host;
  std::optional<std::string_view> port;
  if (!split_host_port(text, host, port)) return bad_address(text, "the brackets are wrong");
  if (host.empty()) return bad_address(text, "the host is empty");
  if (host.size() > kHostBytesMax) return bad_address(text, "the host is too long");
  if (text.starts_with('/') || text.starts_with('.') || text.starts_with('@'))
    return bad_address(text, "a Unix socket's address starts with unix:");
  if (text.find("://") != std::string_view::npos) return bad_address(text, "an address is not a URL");
  if (host.find_first_of("/ \t\n[]@") != std::string_view::npos)
    return bad_address(text, "the host name has an invalid character");
  if (!port) return tcp(std::string(host), kDefaultPort);
  const std::optional<std::uint16_t> number = parse_port(*port);
  if (!number) return bad_address(text, "a port is a number from 1 to 65535");
  return tcp(std::string(host), *number);
}

Address Address::unix_socket(std::string_view path) {
  Address address;
  address.unix_ = true;
  address.host_ = path;
  return address;
}

Address Address::tcp(std::string host, std::uint16_t port) {
  Address address;
  address.host_ = std::move(host);
  address.port_ = port;
  return address;
}

std::string Address::to_string() const {
  if (unix_) return std::string(kUnixPrefix) + host_;
  const std::string port = ":" + std::to_string(port_);
  return is_ipv6(host_) ? "[" + host_ + "]" + port : host_ + port;
}

Result<std::vector<SocketAddress>> Address::resolve() const {
  if (unix_) return unix_address(host_);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host_.c_str(), std::to_string(port_).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  if (error != 0)
    return Status(Code::kUnavailable, "cannot look up " + to_string() + ": " + ::gai_strerror(error));
  std::vector<SocketAddress> result;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress address;
    address.length = entry->ai_addrlen;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    result.push_back(address);
  }
  if (result.empty()) return Status(Code::kUnavailable, "no address for " + to_string());
  return result;
}

bool Address::is_local() const {
  if (unix_ || host_ == "localhost") return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, host_.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host_.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6) != 0;
  return false;
}

}  // namespace tf::net
