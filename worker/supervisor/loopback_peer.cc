// SPDX-License-Identifier: Apache-2.0
// Asks the kernel for the socket at the other end.
#include "worker/supervisor/loopback_peer.h"

#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "transport/base/deadline.h"
#include "transport/net/fd.h"
#include "transport/net/socket.h"

namespace tf::worker {
namespace {

constexpr std::chrono::seconds kAnswerTime{1};    // the kernel answers at once
constexpr std::size_t kTableBytesMax = 64 << 20;  // 400 000 sockets
constexpr std::size_t kAddressWords = 4;          // of 32 bits, as sock_diag and IPv6 have them
constexpr std::string_view kClosing = "the process that connected has closed its end";

const sockaddr_in& v4(const net::SocketAddress& address) {
  return reinterpret_cast<const sockaddr_in&>(address.storage);
}

const sockaddr_in6& v6(const net::SocketAddress& address) {
  return reinterpret_cast<const sockaddr_in6&>(address.storage);
}

// IPv4 within an IPv6 socket: the kernel's tables have it as IPv4.
void unmap(net::SocketAddress& address) {
  if (address.storage.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6(address).sin6_addr)) return;
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  plain.sin_port = v6(address).sin6_port;
  std::memcpy(&plain.sin_addr, &v6(address).sin6_addr.s6_addr[12], sizeof plain.sin_addr);
  address = {};
  std::memcpy(&address.storage, &plain, sizeof plain);
  address.length = sizeof plain;
}

bool is_loopback(const net::SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) return ntohl(v4(address).sin_addr.s_addr) >> 24 == 127;
  return address.storage.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6(address).sin6_addr);
}

struct End {
  std::array<std::uint32_t, kAddressWords> address{};  // network order; IPv4 has one word
  in_port_t port = 0;                                  // network order
};

End end_of(const net::SocketAddress& address) {
  End end;
  if (address.storage.ss_family == AF_INET) {
    end.address[0] = v4(address).sin_addr.s_addr;
    end.port = v4(address).sin_port;
  } else {
    std::memcpy(end.address.data(), &v6(address).sin6_addr, sizeof end.address);
    end.port = v6(address).sin6_port;
  }
  return end;
}

// What counts is a socket that a process has: of others the kernel knows no user, and says 0, which is root.
Result<uid_t> judged(unsigned state, uid_t user, unsigned long inode) {
  if (state != TCP_ESTABLISHED || inode == 0) return Status(Code::kPeerLost, std::string(kClosing));
  return user;
}

Status unavailable(int error) {
  return {Code::kUnavailable, fmt::format("sock_diag: {}", std::strerror(error))};
}

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

Question question(const LoopbackPair& pair) {
  Question ask;
  ask.header.nlmsg_len = sizeof ask;
  ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.header.nlmsg_flags = NLM_F_REQUEST;
  ask.body.sdiag_family = static_cast<std::uint8_t>(pair.peer.storage.ss_family);
  ask.body.sdiag_protocol = IPPROTO_TCP;
  ask.body.idiag_states = ~0u;
  const End peer = end_of(pair.peer);
  const End own = end_of(pair.own);
  ask.body.id.idiag_sport = peer.port;
  ask.body.id.idiag_dport = own.port;
  std::memcpy(ask.body.id.idiag_src, peer.address.data(), sizeof peer.address);
  std::memcpy(ask.body.id.idiag_dst, own.address.data(), sizeof own.address);
  ask.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  ask.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return ask;
}

// A word of /proc/net/tcp; takes it off the line.
std::string_view next_word(std::string_view& line) {
  const std::size_t from = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t to = std::min(line.find(' ', from), line.size());
  const std::string_view word = line.substr(from, to - from);
  line.remove_prefix(to);
  return word;
}

template <typename Number>
std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0100007F:1F90": each word of the address as this machine has it in memory, the port as a number.
std::string table_form(const net::SocketAddress& address) {
  const End end = end_of(address);
  const std::size_t words = address.storage.ss_family == AF_INET ? 1 : kAddressWords;
  std::string text;
  for (std::size_t word = 0; word < words; ++word) text += fmt::format("{:08X}", end.address[word]);
  return text + fmt::format(":{:04X}", ntohs(end.port));
}

Result<std::string> table_of(int family) {
  const char* const path = family == AF_INET ? "/proc/self/net/tcp" : "/proc/self/net/tcp6";
  std::ifstream file(path);
  std::string text;
  std::array<char, 1 << 16> part;
  while (file && text.size() < kTableBytesMax) {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (text.empty()) return Status(Code::kUnavailable, fmt::format("{} cannot be read", path));
  return text;
}

Result<LoopbackPair> pair_of(int socket) {
  LoopbackPair pair;
  pair.own.length = pair.peer.length = sizeof pair.own.storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&pair.own.storage), &pair.own.length) != 0)
    return Status::from_errno("getsockname", errno);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&pair.peer.storage), &pair.peer.length) != 0)
    return Status(Code::kPeerLost, std::string(kClosing));
  unmap(pair.own);
  unmap(pair.peer);
  if (!is_loopback(pair.peer) || pair.own.storage.ss_family != pair.peer.storage.ss_family)
    return Status(Code::kUnsupported, "only a loopback TCP connection has its other end on this host");
  return pair;
}

}  // namespace

Result<uid_t> peer_by_sock_diag(const LoopbackPair& pair) {
  const net::OwnedFd kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (!kernel) return unavailable(errno);
  const Question ask = question(pair);
  if (::send(kernel.get(), &ask, sizeof ask, 0) != static_cast<ssize_t>(sizeof ask))
    return unavailable(errno);
  TF_RETURN_IF_ERROR(net::wait_readable(kernel.get(), Deadline::after(kAnswerTime)));
  alignas(nlmsghdr) std::array<std::byte, 8192> answer;
  const ssize_t got = ::recv(kernel.get(), answer.data(), answer.size(), 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (got < 0 || !NLMSG_OK(header, static_cast<std::size_t>(got)))
    return Status(Code::kUnavailable, "sock_diag gave no whole answer");
  // ENOENT: there is no such socket, or the kernel has no sock_diag for TCP. The table tells which.
  if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len >= NLMSG_LENGTH(sizeof(nlmsgerr)))
    return unavailable(-static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error);
  if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || header->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg)))
    return Status(Code::kUnavailable, "sock_diag gave an answer of another kind");
  const auto* const found = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
  return judged(found->idiag_state, found->idiag_uid, found->idiag_inode);
}

Result<uid_t> peer_by_table(const LoopbackPair& pair, std::string_view table) {
  const std::string peer = table_form(pair.peer);
  const std::string own = table_form(pair.own);
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    next_word(line);  // the number of the line
    if (next_word(line) != peer || next_word(line) != own) continue;
    const auto state = number<unsigned>(next_word(line), 16);
    for (int skipped = 0; skipped < 3; ++skipped) next_word(line);  // queues, timer, retransmits
    const auto user = number<uid_t>(next_word(line), 10);
    next_word(line);  // timeout
    const auto inode = number<unsigned long>(next_word(line), 10);
    if (!state || !user || !inode)
      return Status(Code::kUnavailable, "/proc/net/tcp has a line of another form");
    return judged(*state, *user, *inode);
  }
  return Status(Code::kPeerLost, std::string(kClosing));
}

Result<uid_t> loopback_peer(int socket) {
  Result<LoopbackPair> pair = pair_of(socket);
  if (!pair) return pair.status();
  const Result<uid_t> asked = peer_by_sock_diag(*pair);
  if (asked.code() != Code::kUnavailable) return asked;
  Result<std::string> table = table_of(pair->peer.storage.ss_family);
  if (table) return peer_by_table(*pair, *table);
  return Status(Code::kUnavailable, asked.status().message() + "; " + table.status().message());
}

}  // namespace tf::worker
