// SPDX-License-Identifier: Apache-2.0
// Where a user's own worker listens, and who is believed to be one.
#include "transport/net/own_socket.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "transport/net/address.h"
#include "transport/net/socket.h"

namespace tf::net {
namespace {

class OwnSocket : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/own-socket-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    ::setenv("XDG_RUNTIME_DIR", folder, 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string abstract_ = "@hip-remote-" + std::to_string(::geteuid());
  std::string folder_;
};

TEST_F(OwnSocket, IsInAFolderOfThisUserAlone) {
  EXPECT_EQ(own_socket(), folder_ + "/hip-remote.sock");
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(own_socket(), abstract_) << "everybody may write to it";
}

TEST_F(OwnSocket, IsAnAbstractNameWhereThereIsNoSuchFolder) {
  for (const std::string& folder : {folder_ + "/none", std::string("relative"), std::string("/proc")}) {
    if (folder == "/proc" && ::geteuid() == 0) continue;
    ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
    EXPECT_EQ(own_socket(), abstract_) << folder;
  }
  const std::string deep = folder_ + "/" + std::string(100, 'x');
  ASSERT_EQ(::mkdir(deep.c_str(), 0700), 0);
  ::setenv("XDG_RUNTIME_DIR", deep.c_str(), 1);
  EXPECT_EQ(own_socket(), abstract_) << "longer than an address may be";
}

TEST_F(OwnSocket, SomebodyHasToListen) {
  EXPECT_FALSE(listens_as_this_user(own_socket()));
  {
    const Result<Listener> listener = Listener::open(Address::unix_socket(own_socket()));
    ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
    EXPECT_TRUE(listens_as_this_user(own_socket()));
  }
  EXPECT_FALSE(listens_as_this_user(own_socket()));
}

// Who listens is told by the kernel, as of the time of listen().
TEST_F(OwnSocket, AnotherUserIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::seteuid(65534), 0);
  const Result<Listener> listener =
      Listener::open(Address::unix_socket("@own-socket-test-" + std::to_string(::getpid())));
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
  EXPECT_FALSE(listens_as_this_user(listener.value().address().path()));
}

}  // namespace
}  // namespace tf::net
