// SPDX-License-Identifier: Apache-2.0
// A real hip-worker and clients that do not behave: silence, garbage, half frames, sudden death.
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "hipcore/wire/hello.h"
#include "hipcore/wire/protocol_hash.h"
#include "tcp/transport.h"
#include "transport/net/attach.h"
#include "worker/supervisor/supervisor.h"
#include "worker_process.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

protocol::HelloRequest request_for(const std::string& transport) {
  protocol::HelloRequest request;
  request.schema_hash = protocol::kProtocolHash;
  request.transport = transport;
  request.token = net::Token::random().value();
  request.program = "supervisor_test";
  return request;
}

Result<protocol::HelloReply> greet(const net::Address& address, const protocol::HelloRequest& request,
                                   net::OwnedFd& control) {
  const Deadline deadline = Deadline::after(20s);
  Result<net::OwnedFd> socket = net::dial_lane(address, net::Attach{}, deadline);
  if (!socket) return socket.status();
  control = std::move(*socket);
  TF_RETURN_IF_ERROR(protocol::send_hello(control.get(), request, deadline));
  return protocol::receive_hello_reply(control.get(), deadline);
}

// The worker still serves: the one question that every test here ends with.
void expect_alive(const WorkerProcess& worker) {
  for (const net::Address& address : {worker.tcp(), worker.unix_socket()}) {
    net::OwnedFd control;
    Result<protocol::HelloReply> reply = greet(address, request_for("auto"), control);
    ASSERT_TRUE(reply.is_ok()) << address.to_string() << ": " << reply.status().to_string();
    EXPECT_EQ(reply->code, Code::kOk) << reply->message;
    EXPECT_EQ(reply->snapshot.devices.size(), 1u);
  }
}

// True when the peer has closed `socket`, within `time`.
bool closed_within(int socket, std::chrono::milliseconds time) {
  const Deadline deadline = Deadline::after(time);
  std::byte ignored[512];
  while (!deadline.passed()) {
    pollfd polled{socket, POLLIN, 0};
    if (::poll(&polled, 1, deadline.poll_timeout_ms()) <= 0) return false;
    if (::recv(socket, ignored, sizeof ignored, MSG_DONTWAIT) <= 0) return true;
  }
  return false;
}

TEST(Supervisor, AnswersHelloOnBothSockets) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  net::OwnedFd control;
  Result<protocol::HelloReply> reply = greet(worker.tcp(), request_for("tcp"), control);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->code, Code::kOk) << reply->message;
  EXPECT_EQ(reply->transport, "tcp");
  EXPECT_EQ(reply->session_id, 1u);
  ASSERT_EQ(reply->snapshot.devices.size(), 1u);
  EXPECT_EQ(reply->snapshot.devices[0].properties.name, "Fake Device");
  EXPECT_EQ(reply->snapshot.devices[0].properties.arch, protocol::kArchDoubles);
  ASSERT_NE(reply->snapshot.devices[0].attribute(hipDeviceAttributeWarpSize), nullptr);
  expect_alive(worker);
}

TEST(Supervisor, RefusesWithAReason) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  protocol::HelloRequest request = request_for("tcp");
  request.schema_hash ^= 1;
  net::OwnedFd control;
  Result<protocol::HelloReply> reply = greet(worker.tcp(), request, control);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->code, Code::kUnsupported);
  EXPECT_NE(reply->message.find("another set of messages"), std::string::npos) << reply->message;
  request.schema_hash = protocol::kSchemaHash;  // knows nothing of the messages of the control connection
  reply = greet(worker.tcp(), request, control);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->code, Code::kUnsupported);

  reply = greet(worker.tcp(), request_for("carrier pigeon"), control);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_NE(reply->code, Code::kOk);
  EXPECT_FALSE(reply->message.empty());

  request = request_for("tcp");
  request.wire_version = 9;
  reply = greet(worker.tcp(), request, control);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->code, Code::kUnsupported);
  expect_alive(worker);
}

TEST(Supervisor, ServesNoMoreThanItIsTold) {
  WorkerProcess worker({"--sessions-max", "1"});
  ASSERT_TRUE(worker.ready());
  net::OwnedFd first;
  ASSERT_EQ(greet(worker.tcp(), request_for("tcp"), first)->code, Code::kOk);
  net::OwnedFd second;
  Result<protocol::HelloReply> reply = greet(worker.tcp(), request_for("tcp"), second);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->code, Code::kResourceExhausted);
  EXPECT_NE(reply->message.find("--sessions-max"), std::string::npos);
}

TEST(Supervisor, GarbageOnEverySocketIsClosed) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  std::mt19937 random(11);
  for (const net::Address& address : {worker.tcp(), worker.unix_socket()}) {
    for (int round = 0; round < 50; ++round) {
      Result<net::OwnedFd> socket = net::dial(address, Deadline::after(5s));
      ASSERT_TRUE(socket.is_ok()) << socket.status().to_string();
      std::vector<std::byte> bytes(random() % 4 == 0 ? 20000 : net::kAttachFrameBytes);
      for (std::byte& value : bytes) value = static_cast<std::byte>(random());
      static_cast<void>(net::write_all(socket->get(), bytes, Deadline::after(1s)));
      EXPECT_TRUE(closed_within(socket->get(), 3s)) << round;
    }
  }
  expect_alive(worker);
}

TEST(Supervisor, LanesOfUnknownTokensAreClosed) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  net::Attach attach;
  attach.token = net::Token::random().value();
  attach.kind = tcp::kKind;
  Result<net::OwnedFd> lane = net::dial_lane(worker.tcp(), attach, Deadline::after(5s));
  ASSERT_TRUE(lane.is_ok());
  EXPECT_TRUE(closed_within(lane->get(), 3s));
  expect_alive(worker);
}

TEST(Supervisor, HelloGarbageCostsOneSessionProcessOnly) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{40}, std::uint64_t{1} << 40}) {
    Result<net::OwnedFd> control = net::dial_lane(worker.tcp(), net::Attach{}, Deadline::after(5s));
    ASSERT_TRUE(control.is_ok());
    FrameHeader header;
    header.opcode = protocol::kOpHello;
    header.payload_length = length;
    std::vector<std::byte> bytes(kFrameHeaderBytes + 40, std::byte{0xee});
    write_header(header, bytes.data());
    ASSERT_TRUE(net::write_all(control->get(), bytes, Deadline::after(1s)).is_ok());
    EXPECT_TRUE(closed_within(control->get(), 8s)) << length;
  }
  expect_alive(worker);
}

TEST(Supervisor, SilentAndHalfSpokenConnectionsMeetTheirDeadline) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  std::vector<net::OwnedFd> silent;
  for (int index = 0; index < 80; ++index) {  // more than the supervisor identifies at once
    Result<net::OwnedFd> socket = net::dial(worker.tcp(), Deadline::after(5s));
    ASSERT_TRUE(socket.is_ok());
    const std::byte half[20] = {};
    if (index % 2 == 0) {
      ASSERT_TRUE(net::write_all(socket->get(), half, Deadline::after(1s)).is_ok());
    }
    silent.push_back(std::move(*socket));
  }
  EXPECT_TRUE(closed_within(silent.front().get(), 8s));
  expect_alive(worker);
}

TEST(Supervisor, AClientThatDiesFreesItsProcess) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  for (int round = 0; round < 5; ++round) {
    net::OwnedFd control;
    ASSERT_EQ(greet(worker.tcp(), request_for("tcp"), control)->code, Code::kOk);
  }
  const Deadline deadline = Deadline::after(10s);
  while (worker.children().size() > 1 && !deadline.passed()) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(worker.children().size(), 1u);  // the spare
}

TEST(Supervisor, AKilledSessionTouchesNobodyElse) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  const std::vector<pid_t> before = worker.children();
  ASSERT_EQ(before.size(), 1u);
  net::OwnedFd first;
  ASSERT_EQ(greet(worker.tcp(), request_for("tcp"), first)->code, Code::kOk);
  net::OwnedFd second;
  ASSERT_EQ(greet(worker.tcp(), request_for("tcp"), second)->code, Code::kOk);
  ::kill(before.front(), SIGKILL);  // the process of the first
  EXPECT_TRUE(closed_within(first.get(), 3s));
  EXPECT_FALSE(closed_within(second.get(), 200ms));
  expect_alive(worker);
}

// As when a GPU's driver hangs in it.
TEST(Supervisor, ASpareThatHangsIsReplacedByAnother) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  const pid_t hung = worker.children().front();
  ASSERT_EQ(::kill(hung, SIGSTOP), 0);
  const auto start = std::chrono::steady_clock::now();
  net::OwnedFd control;
  Result<protocol::HelloReply> reply = greet(worker.tcp(), request_for("tcp"), control);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->code, Code::kOk) << reply->message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2 * kTakeTime + 3s);
  EXPECT_FALSE(closed_within(control.get(), 100ms));
  const std::vector<pid_t> children = worker.children();
  EXPECT_EQ(std::count(children.begin(), children.end(), hung), 0);
}

TEST(Supervisor, SighupChangesNothing) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  net::OwnedFd control;
  ASSERT_EQ(greet(worker.tcp(), request_for("tcp"), control)->code, Code::kOk);
  for (const pid_t child : worker.children()) ::kill(child, SIGHUP);
  ::kill(worker.pid(), SIGHUP);
  EXPECT_FALSE(closed_within(control.get(), 500ms));
  expect_alive(worker);
}

TEST(Supervisor, SigtermEndsEverythingInOrder) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  net::OwnedFd control;
  ASSERT_EQ(greet(worker.tcp(), request_for("tcp"), control)->code, Code::kOk);
  const int status = worker.stop(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(closed_within(control.get(), 1s));
}

TEST(Supervisor, ARuntimeThatCannotBeLoadedIsAnError) {
  WorkerProcess worker({}, "/nonexistent/libnothing.so");
  EXPECT_FALSE(worker.ready());
  const int status = worker.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
}

// Debian's package of AMD's runtime, on a machine without a GPU: served, with no devices and AMD's own code.
TEST(Supervisor, AmdsRuntimeWithoutAGpuIsServedAsSuch) {
  WorkerProcess worker({}, "amd");
  if (!worker.ready()) GTEST_SKIP() << "AMD's runtime is not installed";
  net::OwnedFd control;
  Result<protocol::HelloReply> reply = greet(worker.tcp(), request_for("tcp"), control);
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  ASSERT_EQ(reply->code, Code::kOk) << reply->message;
  EXPECT_EQ(reply->snapshot.runtime, "amd");
  if (!reply->snapshot.devices.empty()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(reply->snapshot.init_error, hipErrorNoDevice);
}

TEST(Supervisor, OffLoopbackIsRefusedWithoutAKey) {
  WorkerProcess worker({"--listen", "0.0.0.0"});
  EXPECT_FALSE(worker.ready());
  const int status = worker.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
}

// --- TF_IO_TIMEOUT ----------------------------------------------------------------------------------------

class IoTimeout : public testing::Test {
 protected:
  static void set(const char* text) { ::setenv("TF_IO_TIMEOUT", text, 1); }
  void TearDown() override { ::unsetenv("TF_IO_TIMEOUT"); }

  // A copy of the session process's end of `control`; none where processes may not be looked into.
  static net::OwnedFd far_end(const WorkerProcess& worker, int control) {
    const std::uint16_t port = port_of(control, ::getsockname);
    for (const pid_t pid : worker.children()) {
      const net::OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      for (int number = 0; number < 64; ++number) {
        net::OwnedFd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
        if (copy.get() >= 0 && port_of(copy.get(), ::getpeername) == port) return copy;
      }
    }
    return {};
  }
  static std::uint16_t port_of(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
    sockaddr_in address{};
    socklen_t bytes = sizeof address;
    if (ask(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
    return address.sin_family == AF_INET ? address.sin_port : std::uint16_t{0};
  }
};

TEST_F(IoTimeout, CountsForTheControlConnectionsOfTheWorker) {
  set("77");
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  net::OwnedFd control;
  ASSERT_TRUE(greet(worker.tcp(), request_for("tcp"), control).is_ok());
  const net::OwnedFd end = far_end(worker, control.get());
  if (end.get() < 0) GTEST_SKIP() << "this system does not let a process look into another (pidfd_getfd)";
  unsigned milliseconds = 0;
  socklen_t bytes = sizeof milliseconds;
  ASSERT_EQ(::getsockopt(end.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, &bytes), 0);
  EXPECT_EQ(milliseconds, 76'000u);  // four whole probes: transport/net/liveness.h
}

TEST_F(IoTimeout, OtherTextIsRefusedAtTheStart) {
  set("soon");
  WorkerProcess worker;
  EXPECT_FALSE(worker.ready());
  const int status = worker.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
}

// The buses of the devices that a worker on the host's cores offers: 1 more than their numbers.
std::vector<int> offered_buses(const std::vector<std::string>& options, const std::string& runtime) {
  WorkerProcess worker(options, runtime);
  if (!worker.ready()) return {-1};
  net::OwnedFd control;
  Result<protocol::HelloReply> reply = greet(worker.tcp(), request_for("tcp"), control);
  if (!reply || reply->code != Code::kOk) return {-2};
  std::vector<int> buses;
  for (const protocol::DeviceSnapshot& device : reply->snapshot.devices)
    buses.push_back(device.properties.pci_bus);
  return buses;
}

TEST(Supervisor, OffersTheOneDeviceThatItIsTold) {
  ::setenv("HIP_CPU_DEVICES", "3", 1);
  EXPECT_EQ(offered_buses({}, TF_CPU_RUNTIME), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(offered_buses({"--device", "0"}, TF_CPU_RUNTIME), std::vector<int>{1});
  EXPECT_EQ(offered_buses({"--device", "2"}, TF_CPU_RUNTIME), std::vector<int>{3});
  EXPECT_EQ(offered_buses({"--device", "3"}, TF_CPU_RUNTIME), std::vector<int>{-1}) << "there is none";
  ::setenv("HIP_VISIBLE_DEVICES", "2,0,2,7,1", 1);
  EXPECT_EQ(offered_buses({}, TF_CPU_RUNTIME), (std::vector<int>{3, 1})) << "up to what is no device";
  EXPECT_EQ(offered_buses({"--device", "1"}, TF_CPU_RUNTIME), std::vector<int>{1})
      << "of those that are shown";
  ::unsetenv("HIP_VISIBLE_DEVICES");
  ::unsetenv("HIP_CPU_DEVICES");
}

TEST(Supervisor, ARuntimeThatShowsMoreThanTheOneDeviceIsRefused) {
  ::setenv("FAKE_DEVICES", "2", 1);
  WorkerProcess worker({"--device", "0"});
  ::unsetenv("FAKE_DEVICES");
  EXPECT_FALSE(worker.ready());
}

}  // namespace
}  // namespace tf::worker
