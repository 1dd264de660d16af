// SPDX-License-Identifier: Apache-2.0
// Who may come in, what those hear who may not, and what the log says of them.
#include "worker/supervisor/door.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "hipcore/wire/hello.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kOwn = 1000;
constexpr uid_t kGuest = 1001;
constexpr uid_t kStranger = 65534;
constexpr gid_t kRender = 44;

net::PeerCredentials peer(uid_t user, gid_t group = kStranger) {
  return {.pid = 7, .uid = user, .gid = group};
}

TEST(Door, AdmitsItsOwnUserAndNobodyElse) {
  const Door door(kOwn, {});
  EXPECT_TRUE(door.admits(peer(kOwn), {}));
  EXPECT_FALSE(door.admits(peer(kGuest), {}));
  EXPECT_FALSE(door.admits(peer(0, 0), {})) << "root is no exception";
  EXPECT_FALSE(door.admits(peer(kStranger, kOwn), {})) << "a group of that number is no user";
  const gid_t groups[] = {0, kOwn};
  EXPECT_FALSE(door.admits(peer(kStranger), groups));
}

TEST(Door, AdmitsWhomTheOptionsName) {
  const Door users(kOwn, {.users = {kGuest, 0}, .groups = {}});
  EXPECT_TRUE(users.admits(peer(kGuest), {}));
  EXPECT_TRUE(users.admits(peer(0), {}));
  EXPECT_TRUE(users.admits(peer(kOwn), {})) << "still";
  EXPECT_FALSE(users.admits(peer(kStranger, kGuest), {}));

  const Door groups(kOwn, {.users = {}, .groups = {5, kRender}});
  const gid_t has[] = {1, kRender, 9};
  const gid_t has_not[] = {1, kOwn, 9};
  EXPECT_TRUE(groups.admits(peer(kStranger, kRender), {})) << "primary";
  EXPECT_TRUE(groups.admits(peer(kStranger), has)) << "supplementary";
  EXPECT_FALSE(groups.admits(peer(kStranger), has_not));
  EXPECT_FALSE(groups.admits(peer(kRender), {})) << "a user of that number is no group";
}

// A fresh connection: this process at both ends.
struct Connection {
  Connection() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    worker = net::OwnedFd(ends[0]);
    client = net::OwnedFd(ends[1]);
  }
  net::OwnedFd worker;
  net::OwnedFd client;
};

TEST(Door, ReadsNothingAndSaysWhy) {
  Door door(::geteuid() + 1, {});
  Connection connection;
  const std::array<std::byte, 100> hello{};
  ASSERT_TRUE(net::write_all(connection.client.get(), hello, Deadline::now()).is_ok());
  EXPECT_FALSE(door.admit(connection.worker.get(), true));
  int unread = 0;
  ASSERT_EQ(::ioctl(connection.worker.get(), FIONREAD, &unread), 0);
  EXPECT_EQ(unread, 100);
  connection.worker.reset();
  Result<protocol::HelloReply> reply =
      protocol::receive_hello_reply(connection.client.get(), Deadline::after(1s));
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->code, Code::kPermission);
  for (const std::string& text :
       {"user " + std::to_string(::geteuid()), "--allow-uid " + std::to_string(::geteuid()),
        "--allow-gid " + std::to_string(::getegid())})
    EXPECT_NE(reply->message.find(text), std::string::npos) << reply->message;
}

TEST(Door, SaysNothingToThoseWhoComeIn) {
  Connection connection;
  std::byte byte[1];
  EXPECT_TRUE(Door(::geteuid(), {}).admit(connection.worker.get(), true));
  EXPECT_TRUE(
      Door(::geteuid() + 1, {.users = {::geteuid()}, .groups = {}}).admit(connection.worker.get(), true));
  EXPECT_TRUE(
      Door(::geteuid() + 1, {.users = {}, .groups = {::getegid()}}).admit(connection.worker.get(), true));
  EXPECT_EQ(::recv(connection.client.get(), byte, 1, MSG_DONTWAIT), -1);
}

TEST(Door, SupplementaryGroupsAreThoseOfTheKernel) {
  std::vector<gid_t> own(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ASSERT_EQ(::getgroups(static_cast<int>(own.size()), own.data()), static_cast<int>(own.size()));
  constexpr gid_t kGiven[] = {54321, 54322};
  if (::setgroups(std::size(kGiven), kGiven) != 0) GTEST_SKIP() << "only root can give itself groups";
  const Connection connection;
  ASSERT_EQ(::setgroups(own.size(), own.data()), 0);
  const auto admits = [&](gid_t allowed) {
    return Door(::geteuid() + 1, {.users = {}, .groups = {allowed}}).admit(connection.worker.get(), true);
  };
  EXPECT_TRUE(admits(kGiven[1]));
  EXPECT_FALSE(admits(54323));
}

// Who cannot be asked does not come in.
TEST(Door, RefusesWhoeverIsNotKnown) {
  const net::OwnedFd alone(::socket(AF_INET, SOCK_STREAM, 0));
  Door door(static_cast<uid_t>(-1), {.users = {static_cast<uid_t>(-1)}, .groups = {static_cast<gid_t>(-1)}});
  EXPECT_FALSE(door.admits(alone.get()));
}

TEST(Door, AFloodDoesNotFillTheLog) {
  Door door(::geteuid() + 1, {});
  const auto began = std::chrono::steady_clock::now();
  testing::internal::CaptureStderr();
  for (int count = 0; count < 1000; ++count) {
    Connection connection;
    EXPECT_FALSE(door.admit(connection.worker.get(), true));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const auto lines = static_cast<unsigned>(std::ranges::count(log, '\n'));
  EXPECT_GE(lines, kLogBurst);
  // Each further period has a line, and one that counts those in between.
  const auto periods = static_cast<unsigned>((std::chrono::steady_clock::now() - began) / kLogPeriod);
  EXPECT_LE(lines, kLogBurst + 2 * (periods + 1)) << log;
  const std::string first = "a connection refused: user " + std::to_string(::geteuid()) + ", group " +
                            std::to_string(::getegid()) + ", process " + std::to_string(::getpid());
  EXPECT_NE(log.find(first), std::string::npos) << log;
}

}  // namespace
}  // namespace tf::worker
