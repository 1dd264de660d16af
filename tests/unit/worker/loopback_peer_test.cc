// SPDX-License-Identifier: Apache-2.0
// Whose process is at the other end of a loopback connection, by both ways that the kernel has.
#include "worker/supervisor/loopback_peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>

#include "transport/net/fd.h"
#include "transport/net/socket.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

// One of this process at both ends, accepted at `host`, dialled as `dialled`.
struct LoopbackConnection {
  explicit LoopbackConnection(const std::string& host, const std::string& dialled) {
    Result<net::Listener> opened = net::Listener::open(net::Address::tcp(host, 0));
    if (!opened) return;
    Result<net::OwnedFd> made =
        net::dial(net::Address::tcp(dialled, opened->address().port()), Deadline::after(5s));
    if (!made) return;
    client = std::move(*made);
    EXPECT_TRUE(net::wait_readable(opened->fd(), Deadline::after(5s)).is_ok());
    Result<net::OwnedFd> accepted = opened->accept();
    if (accepted) worker = std::move(*accepted);
  }
  bool made() const { return static_cast<bool>(worker); }

  net::OwnedFd client;
  net::OwnedFd worker;
};

LoopbackPair pair_of(const LoopbackConnection& connection) {
  LoopbackPair pair;
  pair.peer.length = pair.own.length = sizeof pair.own.storage;
  EXPECT_EQ(::getsockname(connection.client.get(), reinterpret_cast<sockaddr*>(&pair.peer.storage),
                          &pair.peer.length),
            0);
  EXPECT_EQ(::getpeername(connection.client.get(), reinterpret_cast<sockaddr*>(&pair.own.storage),
                          &pair.own.length),
            0);
  return pair;
}

std::string table(const char* name) {
  std::ifstream file(std::string("/proc/self/net/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Way {
  const char* listen;
  const char* dial;
  const char* table;
};

class LoopbackPeer : public testing::TestWithParam<Way> {};

TEST_P(LoopbackPeer, IsItsUser) {
  const LoopbackConnection connection(GetParam().listen, GetParam().dial);
  if (!connection.made()) GTEST_SKIP() << "no " << GetParam().listen << " on this machine";
  Result<uid_t> peer = loopback_peer(connection.worker.get());
  ASSERT_TRUE(peer.is_ok()) << peer.status().to_string();
  EXPECT_EQ(*peer, ::geteuid());
}

TEST_P(LoopbackPeer, IsTheSameByBothWays) {
  const LoopbackConnection connection(GetParam().listen, GetParam().dial);
  if (!connection.made()) GTEST_SKIP() << "no " << GetParam().listen << " on this machine";
  // Another user's socket, as far as the kernel is concerned: so the answer is not just this process's user.
  const uid_t user = ::geteuid() == 0 ? 54321 : ::geteuid();
  ASSERT_EQ(::fchown(connection.client.get(), user, static_cast<gid_t>(-1)), 0);
  Result<uid_t> asked = peer_by_sock_diag(pair_of(connection));
  if (asked.code() != Code::kUnavailable) {
    ASSERT_TRUE(asked.is_ok()) << asked.status().to_string();
    EXPECT_EQ(*asked, user);
  }
  Result<uid_t> read = peer_by_table(pair_of(connection), table(GetParam().table));
  ASSERT_TRUE(read.is_ok()) << read.status().to_string();
  EXPECT_EQ(*read, user);
}

// Of a socket that no process has the kernel says user 0: nobody may become root by hanging up.
TEST_P(LoopbackPeer, IsNobodyOnceItHasClosed) {
  LoopbackConnection connection(GetParam().listen, GetParam().dial);
  if (!connection.made()) GTEST_SKIP() << "no " << GetParam().listen << " on this machine";
  const LoopbackPair pair = pair_of(connection);
  connection.client.reset();
  EXPECT_EQ(loopback_peer(connection.worker.get()).code(), Code::kPeerLost);
  EXPECT_FALSE(peer_by_sock_diag(pair));
  EXPECT_EQ(peer_by_table(pair, table(GetParam().table)).code(), Code::kPeerLost);
}

TEST_P(LoopbackPeer, IsNobodyOnceItHasBegunToClose) {
  const LoopbackConnection connection(GetParam().listen, GetParam().dial);
  if (!connection.made()) GTEST_SKIP() << "no " << GetParam().listen << " on this machine";
  ASSERT_EQ(::shutdown(connection.client.get(), SHUT_WR), 0);
  EXPECT_EQ(loopback_peer(connection.worker.get()).code(), Code::kPeerLost);
}

INSTANTIATE_TEST_SUITE_P(Addresses, LoopbackPeer,
                         testing::Values(Way{"127.0.0.1", "127.0.0.1", "tcp"},
                                         Way{"127.0.0.9", "127.0.0.9", "tcp"}, Way{"::1", "::1", "tcp6"}),
                         [](const auto& way) { return "Way" + std::to_string(way.index); });

TEST(LoopbackPeerOf, AnythingElseIsRefused) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const net::OwnedFd one(ends[0]);
  const net::OwnedFd other(ends[1]);
  EXPECT_EQ(loopback_peer(one.get()).code(), Code::kUnsupported);
  EXPECT_FALSE(loopback_peer(-1));
}

// The table, byte by byte: a line in another form is no user, and never root.
TEST(LoopbackPeerTable, TakesWholeLinesOnly) {
  LoopbackPair pair;
  auto& peer = reinterpret_cast<sockaddr_in&>(pair.peer.storage);
  auto& own = reinterpret_cast<sockaddr_in&>(pair.own.storage);
  peer.sin_family = own.sin_family = AF_INET;
  peer.sin_addr.s_addr = own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  peer.sin_port = htons(0xBEEF);
  own.sin_port = htons(0x4853);
  const std::string start = "  sl  local_address rem_address   st ...\n   0: 0100007F:BEEF 0100007F:4853 ";
  const auto answer = [&](const std::string& rest) { return peer_by_table(pair, start + rest); };
  Result<uid_t> whole = answer("01 00000000:00000000 00:00000000 00000000  1000        0 27 1 0 20 4\n");
  ASSERT_TRUE(whole.is_ok()) << whole.status().to_string();
  EXPECT_EQ(*whole, 1000u);
  EXPECT_EQ(answer("06 00000000:00000000 00:00000000 00000000     0        0 0 1 0\n").code(),
            Code::kPeerLost);
  EXPECT_EQ(answer("01 00000000:00000000 00:00000000 00000000     0        0 0 1 0\n").code(),
            Code::kPeerLost);
  for (const char* cut :
       {"", "01", "01 00000000:00000000", "01 0:0 00:0 0", "01 0:0 00:0 0 1000", "01 0:0 00:0 0 1000 0",
        "01 0:0 00:0 0 -1 0 27", "01 0:0 00:0 0 4294967296 0 27", "x 0:0 00:0 0 1000 0 27"})
    EXPECT_EQ(answer(cut).code(), Code::kUnavailable) << cut;
  EXPECT_EQ(peer_by_table(pair, "").code(), Code::kPeerLost);
  EXPECT_EQ(peer_by_table(pair, start.substr(0, start.size() - 2) + "4 01 0:0 00:0 0 1000 0 27\n").code(),
            Code::kPeerLost)
      << "another port";
}

}  // namespace
}  // namespace tf::worker
