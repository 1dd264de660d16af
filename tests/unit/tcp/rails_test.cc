// SPDX-License-Identifier: Apache-2.0
// Payload connections dealt out to several addresses of a worker.
#include "tcp/rails.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

constexpr unsigned kLanes = 4;

std::uint16_t peer_port(const net::OwnedFd& socket) {
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  EXPECT_EQ(::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  return ntohs(address.sin_port);
}

// A listening socket whose queue has room for `backlog` + 1 connections. Nobody accepts them.
struct Place {
  explicit Place(int backlog) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    EXPECT_EQ(::listen(socket.get(), backlog), 0);
    socklen_t bytes = sizeof any;
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&any), &bytes), 0);
    port = ntohs(any.sin_port);
  }
  net::Address address() const { return net::Address::tcp("127.0.0.1", port); }

  net::OwnedFd socket;
  std::uint16_t port = 0;
};

class Rails : public ::testing::Test {
 protected:
  Result<DialledRails> dial(const std::vector<net::Address>& rails) {
    return dial_rails(worker_.address(), rails, layout_, Deadline::after(std::chrono::seconds(20)));
  }
  static unsigned count(const DialledRails& dialled, const Place& place) {
    unsigned found = 0;
    for (const net::OwnedFd& socket : dialled.sockets) found += peer_port(socket) == place.port ? 1 : 0;
    return found;
  }

  Place worker_{16};
  const Layout layout_{kLanes, true};
};

TEST_F(Rails, TakeTurns) {
  const Place one(16);
  const Place other(16);
  Result<DialledRails> dialled = dial({one.address(), other.address()});
  ASSERT_TRUE(dialled.is_ok()) << dialled.status().to_string();
  EXPECT_EQ(dialled->sockets.size(), layout_.connections());
  EXPECT_EQ(count(*dialled, one), kLanes / 2);
  EXPECT_EQ(count(*dialled, other), kLanes / 2);
  EXPECT_TRUE(dialled->remarks.empty());
}

TEST_F(Rails, OneThatAnswersOnceKeepsThat) {
  const Place one(16);
  const Place once(0);
  Result<DialledRails> dialled = dial({one.address(), once.address()});
  ASSERT_TRUE(dialled.is_ok()) << dialled.status().to_string();
  EXPECT_EQ(count(*dialled, one), kLanes - 1);
  EXPECT_EQ(count(*dialled, once), 1u);
  ASSERT_EQ(dialled->remarks.size(), 1u);
  EXPECT_NE(dialled->remarks[0].find(once.address().to_string()), std::string::npos) << dialled->remarks[0];
}

TEST_F(Rails, WithoutAnyTheWorkersOwnAddressServes) {
  std::uint16_t nobody = 0;
  {
    const Place closed(0);
    nobody = closed.port;
  }
  Result<DialledRails> dialled = dial({net::Address::tcp("127.0.0.1", nobody)});
  ASSERT_TRUE(dialled.is_ok()) << dialled.status().to_string();
  EXPECT_EQ(count(*dialled, worker_), layout_.connections());
  EXPECT_EQ(dialled->remarks.size(), 1u);
}

}  // namespace
}  // namespace tf::tcp
