// SPDX-License-Identifier: Apache-2.0
// A real hip-worker and a raw client over every transport that this machine has: HELLO, lanes, requests,
// payload in both directions, and the ends that a session can come to.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hipcore/wire/gen/messages.h"
#include "raw_client.h"
#include "transport/factory/factory.h"
#include "worker_process.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

class Remote : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const net::Transport* candidate : transports())
      if (candidate->name() == GetParam()) transport_ = candidate;
    if (transport_ == nullptr) GTEST_SKIP() << GetParam() << ": not in this build";
    const Status available = transport_->available();
    if (!available.is_ok()) GTEST_SKIP() << GetParam() << ": " << available.to_string();
  }
  const net::Transport* transport_ = nullptr;
};

Status round_trip(RawClient& client, std::size_t bytes, std::uint64_t tag) {
  const std::uint64_t memory = client.lease(bytes);
  std::vector<std::uint32_t> sent(bytes / 4);
  for (std::size_t index = 0; index < sent.size(); ++index)
    sent[index] = static_cast<std::uint32_t>(index * 77);
  std::vector<std::uint32_t> back(sent.size());
  BulkCompletion in;
  BulkCompletion out;
  TF_RETURN_IF_ERROR(client.endpoint->bulk().receive(tag + 1, std::as_writable_bytes(std::span(back)), out));
  TF_RETURN_IF_ERROR(client.post(protocol::CopyToDeviceRequest{memory, bytes, 0, tag}));
  TF_RETURN_IF_ERROR(client.endpoint->bulk().send(tag, std::as_bytes(std::span(sent)), in));
  TF_RETURN_IF_ERROR(client.post(protocol::CopyFromDeviceRequest{memory, bytes, 0, tag + 1}));
  TF_RETURN_IF_ERROR(client.queue->await(in, Deadline::after(30s)));
  TF_RETURN_IF_ERROR(client.queue->await(out, Deadline::after(30s)));
  if (sent != back) return {Code::kInternal, "other bytes came back"};
  return client.post(protocol::ReturnLeaseRequest{memory});
}

// The embedded runtime in place of the fake one: leases in an address window, real streams.
TEST_P(Remote, TheCpuRuntimeGrantsLeasesInItsWindow) {
  WorkerProcess worker({}, "cpu");
  if (!worker.ready()) GTEST_SKIP() << "libhip_cpu.so is not in this build";
  RawClient client(worker, *transport_);
  ASSERT_TRUE(client.status.is_ok()) << client.status.to_string();
  ASSERT_FALSE(client.snapshot.devices.empty());
  const protocol::DeviceSnapshot& device = client.snapshot.devices[0];
  EXPECT_EQ(device.properties.gcn_arch_name, "x86_64-cpu");
  if (client.snapshot.vmm_leases != 0) {
    const std::uint64_t memory = client.lease(1 << 20);
    EXPECT_GE(memory, device.window.base);
    EXPECT_LT(memory, device.window.base + device.window.bytes);
  }
  for (const std::size_t bytes : {4ul, 100000ul, 30ul << 20}) {
    const Status copied = round_trip(client, bytes, bytes);
    EXPECT_TRUE(copied.is_ok()) << bytes << ": " << copied.to_string();
  }
  EXPECT_TRUE(client.synchronize().is_ok());
  EXPECT_EQ(client.notices.count, 0);
}

TEST_P(Remote, CopiesThereAndBack) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  RawClient client(worker, *transport_);
  ASSERT_TRUE(client.status.is_ok()) << client.status.to_string();
  EXPECT_EQ(client.endpoint->transport(), GetParam());
  std::uint64_t tag = 1;
  for (const std::size_t bytes : {4ul, 65536ul, 3ul << 20, 40ul << 20}) {
    const Status copied = round_trip(client, bytes, tag);
    EXPECT_TRUE(copied.is_ok()) << bytes << ": " << copied.to_string();
    tag += 2;
  }
  EXPECT_TRUE(client.synchronize().is_ok());
  EXPECT_EQ(client.notices.count, 0);
}

TEST_P(Remote, ManyClientsAtOnceHaveTheirOwnSessions) {
  WorkerProcess worker({"--spares", "3"});
  ASSERT_TRUE(worker.ready());
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int index = 0; index < 4; ++index) {
    clients.push_back(std::make_unique<RawClient>(worker, *transport_));
    ASSERT_TRUE(clients.back()->status.is_ok()) << clients.back()->status.to_string();
  }
  for (auto& client : clients) {
    const Status copied = round_trip(*client, 100000, 1);
    EXPECT_TRUE(copied.is_ok()) << copied.to_string();
  }
}

TEST_P(Remote, AKilledSessionIsSeenAtOnce) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  const std::vector<pid_t> sessions = worker.children();
  RawClient client(worker, *transport_);
  ASSERT_TRUE(client.status.is_ok()) << client.status.to_string();
  ASSERT_TRUE(client.synchronize().is_ok());
  ::kill(sessions.front(), SIGKILL);
  const Deadline deadline = Deadline::after(5s);
  Status lost;
  while (lost.is_ok() && !deadline.passed()) lost = client.synchronize();
  EXPECT_FALSE(lost.is_ok());
  RawClient next(worker, *transport_);
  ASSERT_TRUE(next.status.is_ok()) << next.status.to_string();
  EXPECT_TRUE(next.synchronize().is_ok());
}

TEST_P(Remote, TheSessionEndsWithItsControlConnection) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  RawClient client(worker, *transport_);
  ASSERT_TRUE(client.status.is_ok()) << client.status.to_string();
  ASSERT_TRUE(client.synchronize().is_ok());
  client.control.reset();
  const Deadline deadline = Deadline::after(5s);
  Status lost;
  while (lost.is_ok() && !deadline.passed()) lost = client.synchronize();
  EXPECT_FALSE(lost.is_ok());
  while (worker.children().size() > 1 && !deadline.passed()) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(worker.children().size(), 1u);
}

// A callback is on a stream for ever: the process must end all the same when its client goes.
TEST_P(Remote, AStuckStreamDoesNotKeepTheProcess) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  {
    RawClient client(worker, *transport_);
    ASSERT_TRUE(client.status.is_ok()) << client.status.to_string();
    ASSERT_TRUE(client.post(protocol::HostCallbackRequest{0, 1}).is_ok());
    const Deadline due = Deadline::after(5s);
    while (client.notices.count == 0 && !due.passed()) ASSERT_TRUE(client.queue->poll().is_ok());
    EXPECT_EQ(client.notices.last_opcode, static_cast<int>(protocol::CallbackDueNotice::kOp));
  }
  const Deadline deadline = Deadline::after(6s);
  while (worker.children().size() > 1 && !deadline.passed()) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(worker.children().size(), 1u);
}

TEST_P(Remote, SigtermReachesAServedClient) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.ready());
  RawClient client(worker, *transport_);
  ASSERT_TRUE(client.status.is_ok()) << client.status.to_string();
  ASSERT_TRUE(round_trip(client, 1 << 20, 1).is_ok());
  const int status = worker.stop(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(client.synchronize().is_ok());
}

INSTANTIATE_TEST_SUITE_P(Transports, Remote, testing::Values(TF_TEST_TRANSPORTS),  // those that work anywhere
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tf::worker
