// SPDX-License-Identifier: Apache-2.0
// What kernels print, at the client: it comes out on the program's streams, calls wait for it, and a worker
// can do nothing else with the control connection.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <string>

#include "hipcore/wire/control_message.h"
#include "proxy/client/client.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"
#include "transport/net/socket.h"

namespace tf::proxy {
namespace {

using namespace std::chrono_literals;
using protocol::OutputStream;

// A client whose control connection is in the test's hands.
struct Session {
  Session() {
    auto [near, far] = make_loopback_pair();
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    control = net::OwnedFd(ends[0]);
    worker = std::make_unique<FakeWorker>(std::move(far), 1 << 20);
    Connected parts;
    parts.control = net::OwnedFd(ends[1]);
    parts.endpoint = std::move(near);
    parts.snapshot = fake_snapshot(1 << 20);
    client = std::make_unique<Client>(std::move(parts));
  }

  net::OwnedFd control;
  std::unique_ptr<FakeWorker> worker;
  std::unique_ptr<Client> client;
};

class KernelOutputTest : public ::testing::Test {
 protected:
  void print(OutputStream stream, std::string_view text) {
    EXPECT_TRUE(protocol::send_output(control_.get(), {stream, text}, Deadline::after(10s)).is_ok());
  }
  // What the client says it has written so far.
  std::uint64_t written() {
    auto message = protocol::receive_control_message(control_.get(), Deadline::after(10s));
    EXPECT_TRUE(message) << message.status().to_string();
    if (!message) return 0;
    EXPECT_EQ(message->kind, protocol::ControlMessage::Kind::kOutputWritten);
    return message->number;
  }
  hipError_t synchronize() { return client_->connection().synchronize_device(0); }
  // Work that may print is posted.
  void start() {
    client_->streams().pending_work().started(PendingWork::mark_of(0, 0));
    client_->streams().output().started();
  }

  Session session_;
  net::OwnedFd& control_ = session_.control;
  FakeWorker* const worker_ = session_.worker.get();
  Client* const client_ = session_.client.get();
};

TEST_F(KernelOutputTest, ComesOutBehindWhatTheProgramPrinted) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  std::printf("program, ");
  print(OutputStream::kOut, "kernel");
  EXPECT_EQ(written(), 6u);
  print(OutputStream::kError, "assertion");
  EXPECT_EQ(written(), 15u);
  std::printf(", program");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "program, kernel, program");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "assertion");
}

TEST_F(KernelOutputTest, WaitsEndBehindTheOutput) {
  testing::internal::CaptureStdout();
  start();
  worker_->printed = 10;
  auto waited = std::async(std::launch::async, [this] { return synchronize(); });
  print(OutputStream::kOut, "12345");
  EXPECT_EQ(written(), 5u);
  EXPECT_EQ(waited.wait_for(20ms), std::future_status::timeout) << "half of the output is missing";
  print(OutputStream::kOut, "67890");
  EXPECT_EQ(waited.get(), hipSuccess);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1234567890");
  EXPECT_FALSE(client_->streams().output().outstanding());
  worker_->printed = 20;
  client_->streams().pending_work().started(PendingWork::mark_of(0, 0));
  EXPECT_EQ(synchronize(), hipSuccess) << "nothing was started since that prints";
}

// Somebody else's wait may find the work finished before its launch has returned.
TEST_F(KernelOutputTest, AnIdleDeviceStillOwesItsOutput) {
  client_->streams().output().started();
  const int before = worker_->calls;
  EXPECT_EQ(synchronize(), hipSuccess);
  EXPECT_EQ(worker_->calls, before + 1);
  EXPECT_EQ(synchronize(), hipSuccess);
  EXPECT_EQ(worker_->calls, before + 1) << "now it owes nothing";
}

TEST_F(KernelOutputTest, ALostWorkerPrintsNoMore) {
  start();
  worker_->printed = 10;
  auto waited = std::async(std::launch::async, [this] { return synchronize(); });
  while (worker_->calls == 0) std::this_thread::yield();
  control_.reset();
  static_cast<void>(waited.get());  // ends
  EXPECT_TRUE(client_->connection().lost());
}

TEST_F(KernelOutputTest, NothingElseComesOnThisConnection) {
  struct Message {
    std::uint64_t magic, number;
  };
  constexpr std::uint64_t kOutput = 0x7074'756f'2d46'5401;  // as send_output() says
  const std::uint64_t out = std::uint64_t{1} << 32;
  const std::uint64_t much = protocol::kOutputChunkMax + 1;
  for (const Message message :
       {Message{1, out | 4}, Message{kOutput, 4}, Message{kOutput, 3 * out | 4}, Message{kOutput, out},
        Message{kOutput, out | much}, Message{kOutput, ~0ull}}) {
    const Session fresh;
    EXPECT_TRUE(
        net::write_all(fresh.control.get(), std::as_bytes(std::span(&message, 1)), Deadline::after(10s))
            .is_ok());
    const Deadline deadline = Deadline::after(10s);
    while (fresh.client->connection().status().is_ok() && !deadline.passed()) std::this_thread::yield();
    EXPECT_EQ(fresh.client->connection().status().code(), Code::kProtocol) << std::hex << message.number;
  }
}

}  // namespace
}  // namespace tf::proxy
