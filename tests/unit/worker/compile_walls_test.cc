// SPDX-License-Identifier: Apache-2.0
// Sources that look for the worker's files: a compiler of a session finds what the session may read, and
// leaves nothing. Real workers, the CPU runtime, and the real compiler.
#include "compile_walls.h"
#include "worker/sandbox/landlock.h"

namespace tf::worker {
namespace {

TEST_F(CompileWalls, AProgramIsCompiled) {
  const protocol::RtcResult result = compile({}, "extern \"C\" __global__ void k(int* p) { *p = 1; }\n");
  EXPECT_EQ(result.result, 0) << result.log;
  EXPECT_FALSE(result.code.empty());
}

TEST_F(CompileWalls, AFileOfTheOperatorIsNotIncluded) {
  if (Landlock::version() == 0) GTEST_SKIP() << "this kernel has no Landlock, so files cannot be walled off";
  for (const std::string& source : {with_secret(), std::string("#include \"/etc/passwd\"\n")}) {
    const protocol::RtcResult result = compile({}, source);
    EXPECT_NE(result.result, 0);
    EXPECT_EQ(result.log.find("secret of"), std::string::npos) << result.log;
    EXPECT_EQ(result.log.find("root:"), std::string::npos) << result.log;
  }
}

TEST_F(CompileWalls, WithoutWallsItIs) {
  const protocol::RtcResult result = compile({"--no-sandbox"}, with_secret());
  EXPECT_NE(result.log.find("secret of"), std::string::npos) << result.log;
}

TEST_F(CompileWalls, ASourceThatTakesForEverEndsWithItsSession) {
  const WorkerProcess worker({}, TF_CPU_RUNTIME);
  std::unique_ptr<RawClient> client = send(worker, program_of(kBomb, {"-fconstexpr-steps=2147483647"}));
  EXPECT_TRUE(client->post(protocol::CompileProgramRequest{1}).is_ok());
  EXPECT_TRUE(client->synchronize().is_ok());
  ASSERT_TRUE(eventually([this] { return is_compiling(); }));
  client.reset();
  EXPECT_TRUE(eventually([this] { return !is_compiling(); }));
  EXPECT_TRUE(eventually([this] { return !has_files(); }));
}

}  // namespace
}  // namespace tf::worker
