// SPDX-License-Identifier: Apache-2.0
// Sessions that end in the midst of a compilation leave no compiler and no file behind. Real workers, the CPU
// runtime, and a compiler that takes for ever.
#include <gtest/gtest.h>
#include <signal.h>

#include "hipcore/wire/rtc_program.h"
#include "raw_client.h"
#include "tcp/transport.h"
#include "tests/support/slow_compiler.h"

namespace tf::worker {
namespace {

class CompileDeath : public testing::Test {
 protected:
  // The compiler's processes, at work.
  std::vector<pid_t> start() {
    worker_ = std::make_unique<WorkerProcess>(std::vector<std::string>{}, TF_CPU_RUNTIME);
    EXPECT_TRUE(worker_->ready());
    session_ = worker_->children().front();
    compiler_.look_through(session_);
    client_ = std::make_unique<RawClient>(*worker_, tcp::transport());
    EXPECT_TRUE(client_->status.is_ok()) << client_->status.to_string();
    protocol::RtcProgram program;
    program.text = "source";
    program.name = "a.hip";
    const std::vector<std::byte> bytes = protocol::encode(program).value();
    BulkCompletion sent;
    EXPECT_TRUE(client_->endpoint->bulk().send(1, bytes, sent).is_ok());
    EXPECT_TRUE(client_->post(protocol::SendProgramRequest{1, bytes.size()}).is_ok());
    EXPECT_TRUE(client_->queue->await(sent, Deadline::after(std::chrono::seconds(20))).is_ok());
    EXPECT_TRUE(client_->post(protocol::CompileProgramRequest{1}).is_ok());
    EXPECT_TRUE(client_->synchronize().is_ok());
    const std::vector<pid_t> pids = compiler_.wait_for_start();
    EXPECT_EQ(pids.size(), 2u);
    return pids;
  }

  test::SlowCompiler compiler_;
  std::unique_ptr<WorkerProcess> worker_;
  pid_t session_ = 0;
  std::unique_ptr<RawClient> client_;
};

TEST_F(CompileDeath, AClientThatGoesTakesItsCompilationAlong) {
  const std::vector<pid_t> pids = start();
  client_.reset();
  EXPECT_TRUE(compiler_.is_cleaned_up(pids));
}

TEST_F(CompileDeath, ASessionThatIsKilledTakesItsCompilationAlong) {
  const std::vector<pid_t> pids = start();
  ::kill(session_, SIGKILL);
  EXPECT_TRUE(compiler_.is_cleaned_up(pids));
}

TEST_F(CompileDeath, AWorkerThatIsKilledTakesItsCompilationsAlong) {
  const std::vector<pid_t> pids = start();
  worker_.reset();  // by SIGKILL
  EXPECT_TRUE(compiler_.is_cleaned_up(pids));
}

}  // namespace
}  // namespace tf::worker
