// SPDX-License-Identifier: Apache-2.0
#include "transport/net/socket.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace tf::net {
namespace {

Deadline soon() { return Deadline::after(std::chrono::seconds(5)); }

Result<OwnedFd> accept_one(Listener& listener) {
  EXPECT_TRUE(wait_readable(listener.fd(), soon()).is_ok());
  return listener.accept();
}

std::string socket_path(const char* name) {
  return testing::TempDir() + "tf-" + std::to_string(::getpid()) + "-" + name;
}

class EveryFamily : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, EveryFamily,
                         testing::Values("127.0.0.1:0", "[::1]:0", "localhost:0", "unix:@", "unix:"));

Address test_address(std::string_view form) {
  if (form == "unix:@") return Address::unix_socket("@tf-socket-test-" + std::to_string(::getpid()));
  if (form == "unix:") return Address::unix_socket(socket_path("family"));
  return Address::parse(form).value();
}

TEST_P(EveryFamily, ConnectsAndCarriesBytes) {
  Result<Listener> listener = Listener::open(test_address(GetParam()));
  if (listener.code() == Code::kUnavailable) GTEST_SKIP() << listener.status().message();  // no IPv6 here
  ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
  EXPECT_TRUE(listener->address().is_unix() || listener->address().port() != 0);
  EXPECT_EQ(listener->accept().code(), Code::kWouldBlock);
  Result<OwnedFd> client = dial(listener->address(), soon());
  ASSERT_TRUE(client.is_ok()) << client.status().to_string();
  Result<OwnedFd> server = accept_one(*listener);
  ASSERT_TRUE(server.is_ok());
  for (const int fd : {client->get(), server->get()}) {
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  std::vector<std::byte> sent(3 << 20, std::byte{0x5a});  // more than the socket buffers
  std::vector<std::byte> received(sent.size());
  std::thread writer([&] { EXPECT_TRUE(write_all(client->get(), sent, soon()).is_ok()); });
  EXPECT_TRUE(read_all(server->get(), received, soon()).is_ok());
  writer.join();
  EXPECT_EQ(sent, received);
  client->reset();
  EXPECT_EQ(read_all(server->get(), received, soon()).code(), Code::kPeerLost);
}

TEST(Socket, TcpIsTuned) {
  Result<Listener> listener = Listener::open(Address::tcp("127.0.0.1", 0));
  ASSERT_TRUE(listener.is_ok());
  Result<OwnedFd> client = dial(listener->address(), soon());
  Result<OwnedFd> server = accept_one(*listener);
  ASSERT_TRUE(client.is_ok() && server.is_ok());
  for (const int fd : {client->get(), server->get()}) {
    int value = 0;
    socklen_t length = sizeof value;
    ASSERT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &length), 0);
    EXPECT_EQ(value, 1);
    ASSERT_EQ(::getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &length), 0);
    EXPECT_EQ(value, 1);
  }
}

TEST(Socket, FailuresNameTheAddress) {
  Result<Listener> listener = Listener::open(Address::tcp("127.0.0.1", 0));
  ASSERT_TRUE(listener.is_ok());
  const Address gone = listener->address();
  { const Listener closing = std::move(*listener); }
  const Result<OwnedFd> refused = dial(gone, soon());
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_NE(refused.status().message().find(gone.to_string()), std::string::npos)
      << refused.status().message();
  const Result<OwnedFd> missing = dial(Address::unix_socket("/nonexistent/socket"), soon());
  EXPECT_EQ(missing.code(), Code::kUnavailable);
  Result<Listener> first = Listener::open(Address::tcp("127.0.0.1", 0));
  ASSERT_TRUE(first.is_ok());
  EXPECT_EQ(Listener::open(first->address()).code(), Code::kUnavailable);
}

// "localhost" may mean ::1 too, where another worker may listen: lanes go to where the first connection went.
TEST(Socket, ANameIsNotAskedAgain) {
  Result<Listener> listener = Listener::open(Address::tcp("127.0.0.1", 0));
  ASSERT_TRUE(listener.is_ok());
  const Address named = Address::tcp("localhost", listener->address().port());
  Result<OwnedFd> client = dial(named, soon());
  ASSERT_TRUE(client.is_ok()) << client.status().to_string();
  EXPECT_EQ(address_reached(client->get(), named).to_string(), listener->address().to_string());
}

TEST(Socket, DeadlinesHold) {
  Result<Listener> listener =
      Listener::open(Address::unix_socket("@tf-deadline-" + std::to_string(::getpid())));
  ASSERT_TRUE(listener.is_ok());
  Result<OwnedFd> client = dial(listener->address(), soon());
  ASSERT_TRUE(client.is_ok());
  const auto start = Deadline::Clock::now();
  std::byte byte[1];
  EXPECT_EQ(read_all(client->get(), byte, Deadline::after(std::chrono::milliseconds(30))).code(),
            Code::kTimeout);
  const std::vector<std::byte> much(8 << 20);
  EXPECT_EQ(write_all(client->get(), much, Deadline::after(std::chrono::milliseconds(30))).code(),
            Code::kTimeout);
  EXPECT_GE(Deadline::Clock::now() - start, std::chrono::milliseconds(59));
  EXPECT_LT(Deadline::Clock::now() - start, std::chrono::seconds(5));
}

TEST(Listener, ReplacesStaleFilesOnly) {
  const std::string path = socket_path("stale");
  const Address address = Address::unix_socket(path);
  struct stat info {};
  {
    // A socket file whose owner died: bound, never unlinked.
    const OwnedFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    const SocketAddress where = address.resolve().value().at(0);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&where.storage), where.length), 0);
  }
  ASSERT_EQ(::lstat(path.c_str(), &info), 0);
  {
    Result<Listener> listener = Listener::open(address);
    ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
    EXPECT_EQ(Listener::open(address).code(), Code::kUnavailable) << "stole the address of a living listener";
    EXPECT_TRUE(dial(address, soon()).is_ok());
  }
  EXPECT_NE(::lstat(path.c_str(), &info), 0) << "the listener left its file behind";
  const OwnedFd file(::open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_EQ(Listener::open(address).code(), Code::kUnavailable);
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << "removed a file that is no socket";
  ::unlink(path.c_str());
}

// Whatever the umask, and at once.
TEST(Listener, FilesHaveTheModeThatWasAskedFor) {
  const Address address = Address::unix_socket(socket_path("mode"));
  for (const mode_t umask_here : std::initializer_list<mode_t>{0000, 0022, 0077}) {
    const mode_t before = ::umask(umask_here);
    for (const mode_t mode : std::initializer_list<mode_t>{0600, 0660, 0666}) {
      const Result<Listener> listener = Listener::open(address, {.mode = mode, .group = {}});
      ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
      struct stat info {};
      ASSERT_EQ(::lstat(address.path().c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 07777, mode);
    }
    EXPECT_EQ(::umask(before), umask_here) << "it was not put back";
  }
  const Result<Listener> listener = Listener::open(address);
  struct stat info {};
  ASSERT_EQ(::lstat(address.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST(Listener, FilesHaveTheGroupThatWasAskedFor) {
  const Address address = Address::unix_socket(socket_path("group"));
  struct stat info {};
  {
    const Result<Listener> own = Listener::open(address, {.mode = 0660, .group = ::getegid()});
    ASSERT_TRUE(own.is_ok()) << own.status().to_string();
    ASSERT_EQ(::lstat(address.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_gid, ::getegid());
  }
  constexpr gid_t kForeign = 54321;
  const Result<Listener> foreign = Listener::open(address, {.mode = 0660, .group = kForeign});
  if (foreign) {  // as root
    ASSERT_EQ(::lstat(address.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_gid, kForeign);
    return;
  }
  EXPECT_EQ(foreign.code(), Code::kPermission);
  EXPECT_NE(foreign.status().message().find("not a member"), std::string::npos) << foreign.status().message();
  EXPECT_NE(::lstat(address.path().c_str(), &info), 0) << "a socket that was refused left its file behind";
}

// What somebody else has bound, as a service manager does.
OwnedFd bound_elsewhere(const Address& address, int type = SOCK_STREAM) {
  const SocketAddress where = address.resolve().value().at(0);
  OwnedFd socket(::socket(where.storage.ss_family, type, 0));
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&where.storage), where.length), 0);
  return socket;
}

TEST(Listener, AdoptsWhatListens) {
  const Address file = Address::unix_socket(socket_path("adopted"));
  const Address abstract = Address::unix_socket("@adopted-" + std::to_string(::getpid()));
  for (const Address& address : {file, abstract, Address::tcp("127.0.0.1", 0), Address::tcp("::1", 0)}) {
    OwnedFd socket = bound_elsewhere(address);
    ASSERT_EQ(::listen(socket.get(), 1), 0);
    Result<Listener> listener = Listener::adopt(std::move(socket));
    ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
    EXPECT_EQ(listener->address().is_unix(), address.is_unix());
    if (address.is_unix())
      EXPECT_EQ(listener->address().path(), address.path());
    else
      EXPECT_EQ(listener->address().host(), address.host());
    EXPECT_EQ(listener->accept().code(), Code::kWouldBlock) << "it waits";
    EXPECT_TRUE(dial(listener->address(), soon()).is_ok());
    EXPECT_TRUE(listener->accept().is_ok());
    EXPECT_EQ(::fcntl(listener->fd(), F_GETFD), FD_CLOEXEC);
  }
  struct stat info {};
  EXPECT_EQ(::lstat(file.path().c_str(), &info), 0) << "it has removed the file of another";
  ::unlink(file.path().c_str());
}

TEST(Listener, AdoptsNothingElse) {
  const Address address = Address::unix_socket(socket_path("refused"));
  EXPECT_EQ(Listener::adopt(bound_elsewhere(address)).code(), Code::kInvalidArgument) << "nobody listens";
  ::unlink(address.path().c_str());
  EXPECT_EQ(Listener::adopt(bound_elsewhere(address, SOCK_DGRAM)).code(), Code::kInvalidArgument);
  ::unlink(address.path().c_str());
  EXPECT_EQ(Listener::adopt(OwnedFd(::open("/dev/null", O_RDONLY))).code(), Code::kInvalidArgument);
  EXPECT_EQ(Listener::adopt(OwnedFd()).code(), Code::kInvalidArgument);
  OwnedFd nameless(::socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(Listener::adopt(std::move(nameless)).code(), Code::kInvalidArgument);
}

class Descriptors : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    here_ = OwnedFd(ends[0]);
    there_ = OwnedFd(ends[1]);
  }
  OwnedFd here_;
  OwnedFd there_;
};

TEST_F(Descriptors, TravelWithTheirBytes) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const OwnedFd reading(pipe_ends[0]);
  OwnedFd writing(pipe_ends[1]);
  const int sent[2] = {writing.get(), reading.get()};
  const std::vector<std::byte> bytes(10, std::byte{3});
  ASSERT_TRUE(send_with_fds(here_.get(), bytes, sent, soon()).is_ok());
  std::vector<std::byte> got(10);
  std::vector<OwnedFd> fds;
  ASSERT_TRUE(receive_with_fds(there_.get(), got, fds, soon()).is_ok());
  EXPECT_EQ(got, bytes);
  ASSERT_EQ(fds.size(), 2u);
  EXPECT_NE(::fcntl(fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  writing.reset();
  ASSERT_EQ(::write(fds[0].get(), "x", 1), 1);
  char letter = 0;
  ASSERT_EQ(::read(reading.get(), &letter, 1), 1);
  EXPECT_EQ(letter, 'x');
}

TEST_F(Descriptors, AreBounded) {
  const std::vector<std::byte> bytes(1);
  const std::vector<int> many(kFdsPerMessageMax + 1, 0);
  EXPECT_EQ(send_with_fds(here_.get(), bytes, many, soon()).code(), Code::kInvalidArgument);
  EXPECT_EQ(send_with_fds(here_.get(), {}, {}, soon()).code(), Code::kInvalidArgument);
  // Two full messages where one is read: the second's descriptors are over the limit, and all are closed.
  const std::vector<int> full(kFdsPerMessageMax, here_.get());
  ASSERT_TRUE(send_with_fds(here_.get(), bytes, full, soon()).is_ok());
  ASSERT_TRUE(send_with_fds(here_.get(), bytes, full, soon()).is_ok());
  std::vector<std::byte> got(2);
  std::vector<OwnedFd> fds;
  EXPECT_EQ(receive_with_fds(there_.get(), got, fds, soon()).code(), Code::kProtocol);
}

// A socket that was not made here may block: the deadline holds all the same.
TEST_F(Descriptors, KeepTheirDeadlineOnABlockingSocket) {
  ASSERT_EQ(::fcntl(there_.get(), F_SETFL, ::fcntl(there_.get(), F_GETFL) & ~O_NONBLOCK), 0);
  std::vector<std::byte> got(1);
  std::vector<OwnedFd> fds;
  const Deadline shortly = Deadline::after(std::chrono::milliseconds(20));
  EXPECT_EQ(receive_with_fds(there_.get(), got, fds, shortly).code(), Code::kTimeout);
  EXPECT_EQ(read_all(there_.get(), got, shortly).code(), Code::kTimeout);
}

TEST_F(Descriptors, KnowTheirPeer) {
  const Result<PeerCredentials> peer = peer_credentials(here_.get());
  ASSERT_TRUE(peer.is_ok());
  EXPECT_EQ(peer.value().pid, ::getpid());
  EXPECT_EQ(peer.value().uid, ::geteuid());
  EXPECT_EQ(peer.value().gid, ::getegid());
  Result<Listener> listener = Listener::open(Address::tcp("127.0.0.1", 0));
  ASSERT_TRUE(listener.is_ok());
  Result<OwnedFd> client = dial(listener->address(), soon());
  ASSERT_TRUE(client.is_ok());
  EXPECT_FALSE(peer_credentials(client->get()).is_ok());
  EXPECT_FALSE(peer_groups(client->get()).is_ok());
}

TEST(Socket, APeersNetworkIsItsAddress) {
  for (const std::string host : {"127.0.0.1", "::1"}) {
    Result<Listener> listener = Listener::open(Address::tcp(host, 0));
    if (!listener && host == "::1") GTEST_SKIP() << listener.status().message();
    ASSERT_TRUE(listener.is_ok());
    Result<OwnedFd> client = dial(listener->address(), soon());
    ASSERT_TRUE(client.is_ok());
    EXPECT_EQ(peer_network(client->get()), host);
  }
}

TEST_F(Descriptors, KnowTheirPeersGroups) {
  std::vector<gid_t> own(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ASSERT_EQ(::getgroups(static_cast<int>(own.size()), own.data()), static_cast<int>(own.size()));
  Result<std::vector<gid_t>> groups = peer_groups(here_.get());
  if (groups.code() == Code::kInternal) GTEST_SKIP() << groups.status().message();  // before Linux 4.13
  ASSERT_TRUE(groups.is_ok()) << groups.status().to_string();
  std::ranges::sort(*groups);
  std::ranges::sort(own);
  EXPECT_EQ(*groups, own);
}

// More than the first try has room for.
TEST_F(Descriptors, KnowAThousandGroups) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give itself groups";
  std::vector<gid_t> many;
  for (gid_t group = 0; group < 1000; ++group) many.push_back(5000 + group);
  std::vector<gid_t> before(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ASSERT_GE(::getgroups(static_cast<int>(before.size()), before.data()), 0);
  ASSERT_EQ(::setgroups(many.size(), many.data()), 0);
  int ends[2];
  const int made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
  ASSERT_EQ(::setgroups(before.size(), before.data()), 0);
  ASSERT_EQ(made, 0);
  const OwnedFd here(ends[0]);
  const OwnedFd there(ends[1]);
  Result<std::vector<gid_t>> groups = peer_groups(here.get());
  if (groups.code() == Code::kInternal) GTEST_SKIP() << groups.status().message();
  ASSERT_TRUE(groups.is_ok()) << groups.status().to_string();
  EXPECT_EQ(*groups, many);
}

}  // namespace
}  // namespace tf::net
