// SPDX-License-Identifier: Apache-2.0
// A supervisor whose session processes do not behave: as they would when their client had taken them over.
// This program is the worker too: supervisor, and session process of the kind that TF_TEST_SESSION names.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/hip-worker/options.h"
#include "transport/frame.h"
#include "transport/net/attach.h"
#include "worker/base/channel.h"
#include "worker/supervisor/supervisor.h"
#include "worker_process.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr int kFloodMessages = 200'000;
constexpr long kResidentGrowthMax_kib = 2048;

long resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

class Misbehaving : public testing::Test {
 protected:
  void start(const char* kind) {
    ::setenv("TF_TEST_SESSION", kind, 1);
    worker_ = std::make_unique<WorkerProcess>();
    ASSERT_TRUE(worker_->ready());
  }
  void TearDown() override { ::unsetenv("TF_TEST_SESSION"); }

  // A control connection that says something, though no HELLO.
  net::OwnedFd connect() {
    Result<net::OwnedFd> socket = net::dial_lane(worker_->tcp(), net::Attach{}, Deadline::after(10s));
    EXPECT_TRUE(socket.is_ok()) << socket.status().to_string();
    const std::byte hello[kFrameHeaderBytes] = {};
    EXPECT_TRUE(net::write_all(socket->get(), hello, Deadline::after(10s)).is_ok());
    return std::move(*socket);
  }
  bool ends(pid_t session) const {
    for (int round = 0; round < 1000; ++round) {
      const std::vector<pid_t> children = worker_->children();
      if (std::find(children.begin(), children.end(), session) == children.end()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  std::unique_ptr<WorkerProcess> worker_;
};

TEST_F(Misbehaving, ASessionThatExpectsLanesWithoutEndIsKilled) {
  start("expects");
  const pid_t session = worker_->children().front();
  const long before = resident_kib(worker_->pid());
  ASSERT_GT(before, 0);
  const net::OwnedFd client = connect();
  std::byte byte[1];
  // It says so itself when it has come through with all of them.
  EXPECT_EQ(net::read_all(client.get(), byte, Deadline::after(30s)).code(), Code::kPeerLost);
  EXPECT_TRUE(ends(session));
  EXPECT_LT(resident_kib(worker_->pid()) - before, kResidentGrowthMax_kib);
}

TEST_F(Misbehaving, ASessionThatSpeaksAsTheSupervisorIsKilled) {
  start("drains");
  const pid_t session = worker_->children().front();
  const net::OwnedFd client = connect();
  std::byte byte[1];
  EXPECT_EQ(net::read_all(client.get(), byte, Deadline::after(30s)).code(), Code::kPeerLost);
  EXPECT_TRUE(ends(session));
}

// It would read as the end of the channel, and the process would go on where no message reaches it.
TEST_F(Misbehaving, ASessionThatSendsAnEmptyPacketIsKilled) {
  testing::internal::CaptureStderr();
  start("empties");
  const pid_t session = worker_->children().front();
  const net::OwnedFd client = connect();
  EXPECT_TRUE(ends(session));
  worker_.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("killed: its message cannot be read: the peer sent a packet of another size"),
            std::string::npos)
      << log;
}

TEST_F(Misbehaving, ASessionThatLeavesTheChannelIsKilled) {
  start("leaves");
  const pid_t session = worker_->children().front();
  const net::OwnedFd client = connect();
  EXPECT_TRUE(ends(session));
}

int send(Envelope kind, const net::Token& token = {}) {
  ChannelMessage message;
  message.kind = kind;
  message.attach.token = token;
  return send_message(kSessionChannelFd, message, Deadline::after(10s)).is_ok() ? 0 : 1;
}

// A session process: 0 when it was let do all it wanted.
int misbehave(std::string_view kind) {
  if (send(Envelope::kReady) != 0) return 1;
  const Result<ChannelMessage> grant = receive_message(kSessionChannelFd, Deadline::never());
  if (!grant || grant.value().kind != Envelope::kGrant) return 1;
  Result<ChannelMessage> control = receive_message(kSessionChannelFd, Deadline::never());
  if (!control || control->kind != Envelope::kControl || send(Envelope::kTaken) != 0) return 1;
  if (kind == "empties") static_cast<void>(::send(kSessionChannelFd, "", 0, MSG_NOSIGNAL));
  if (kind == "leaves") static_cast<void>(::shutdown(kSessionChannelFd, SHUT_WR));
  if (kind == "empties" || kind == "leaves") return ::pause();  // it has more to do
  net::Token token;
  for (int sent = 0; sent < kFloodMessages; ++sent) {
    std::memcpy(token.bytes.data(), &sent, sizeof sent);
    token.bytes.back() = 1;
    if (send(kind == "expects" ? Envelope::kExpect : Envelope::kDrain, token) != 0) return 1;
  }
  const std::byte done[1] = {};
  static_cast<void>(net::write_all(control->connection.get(), done, Deadline::after(1s)));
  return 0;
}

int run_worker(int argc, char** argv) {
  Options options;
  if (parse_options(argc, argv, options) != ParseResult::kRun) return 2;
  ::signal(SIGPIPE, SIG_IGN);
  if (options.is_session) return misbehave(std::getenv("TF_TEST_SESSION"));
  Supervisor supervisor(options);
  return supervisor.open().is_ok() && supervisor.run().is_ok() ? 0 : 1;
}

}  // namespace
}  // namespace tf::worker

int main(int argc, char** argv) {
  if (std::string_view(argv[0]) == "hip-worker") return tf::worker::run_worker(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
