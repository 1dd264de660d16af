// SPDX-License-Identifier: Apache-2.0
// Sources that look for the worker's files: a compiler of a session finds what the session may read, and
// leaves nothing. Real workers, the CPU runtime, and the real compiler.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>

#include "hipcore/wire/rtc_program.h"
#include "raw_client.h"
#include "tcp/transport.h"
#include "worker/sandbox/landlock.h"

namespace tf::worker {
namespace {

namespace fs = std::filesystem;

class CompileWalls : public testing::Test {
 protected:
  CompileWalls() {
    std::string pattern = (fs::temp_directory_path() / "compile-walls-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    fs::create_directory(temporary());
    std::ofstream(home_ / "secret.h") << "the secret of the operator\n";
    ::setenv("TMPDIR", temporary().c_str(), 1);
  }
  ~CompileWalls() override {
    ::unsetenv("TMPDIR");
    fs::remove_all(home_);
  }

  // A client whose program, number 1, is at the worker.
  std::unique_ptr<RawClient> send(const WorkerProcess& worker, const std::string& text,
                                  const std::vector<std::string>& options = {}) {
    EXPECT_TRUE(worker.ready());
    auto client = std::make_unique<RawClient>(worker, tcp::transport());
    EXPECT_TRUE(client->status.is_ok()) << client->status.to_string();
    protocol::RtcProgram program;
    program.text = text;
    program.name = "a.hip";
    program.options = options;
    const std::vector<std::byte> bytes = protocol::encode(program).value();
    BulkCompletion sent;
    EXPECT_TRUE(client->endpoint->bulk().send(1, bytes, sent).is_ok());
    EXPECT_TRUE(client->post(protocol::SendProgramRequest{1, bytes.size()}).is_ok());
    EXPECT_TRUE(client->queue->await(sent, Deadline::after(std::chrono::seconds(20))).is_ok());
    return client;
  }
  protocol::RtcResult compile(const std::vector<std::string>& arguments, const std::string& text) {
    const WorkerProcess worker(arguments, TF_CPU_RUNTIME);
    const std::unique_ptr<RawClient> owned = send(worker, text);
    RawClient& client = *owned;
    struct {
      std::int32_t error = -1;
      std::uint32_t output = 0;
      protocol::CompileProgramReply body;
    } reply;
    const auto span = std::as_writable_bytes(std::span(&reply, 1));
    const protocol::CompileProgramRequest request{1};
    Result<Reply> answered = client.queue->call(
        static_cast<std::uint16_t>(protocol::CompileProgramRequest::kOp), 0,
        std::as_bytes(std::span(&request, 1)), {}, span, Deadline::after(std::chrono::seconds(120)));
    EXPECT_TRUE(answered.is_ok() && reply.error == 0);
    std::vector<std::byte> encoded(static_cast<std::size_t>(reply.body.bytes));
    BulkCompletion received;
    EXPECT_TRUE(client.endpoint->bulk().receive(2, encoded, received).is_ok());
    EXPECT_TRUE(client.post(protocol::FetchProgramRequest{1, 2}).is_ok());
    EXPECT_TRUE(client.queue->await(received, Deadline::after(std::chrono::seconds(20))).is_ok());
    Result<protocol::RtcResult> result = protocol::decode_rtc_result(encoded);
    EXPECT_TRUE(result.is_ok());
    EXPECT_FALSE(has_files()) << "the compiler has left something";
    return result ? std::move(*result) : protocol::RtcResult();
  }
  // Whether a compiler proper is at work for this test.
  bool is_compiling() const {
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
      std::ifstream file(entry->path() / "cmdline");
      std::string words;
      std::getline(file, words);
      if (words.find("-cc1") != std::string::npos && words.find(home_.string()) != std::string::npos)
        return true;
    }
    return false;
  }
  static bool eventually(const std::function<bool()>& condition) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(60));
    while (!condition() && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return condition();
  }
  std::string with_secret() const { return "#include \"" + (home_ / "secret.h").string() + "\"\n"; }

  // Which others may remove meanwhile.
  bool has_files() const {
    std::error_code error;
    fs::recursive_directory_iterator entry(temporary(), error), end;
    for (; !error && entry != end; entry.increment(error)) {
      std::error_code gone;
      if (!entry->is_directory(gone)) return true;
    }
    return false;
  }

 private:
  fs::path temporary() const { return home_ / "tmp"; }

  fs::path home_;
};

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
  constexpr char kBomb[] =
      "constexpr unsigned long sum(unsigned long to) {\n"
      "  unsigned long all = 0;\n"
      "  for (unsigned long i = 0; i < to; ++i) all += i;\n"
      "  return all;\n"
      "}\n"
      "static_assert(sum(1ul << 40) != 0);\n";
  const WorkerProcess worker({}, TF_CPU_RUNTIME);
  std::unique_ptr<RawClient> client = send(worker, kBomb, {"-fconstexpr-steps=2147483647"});
  EXPECT_TRUE(client->post(protocol::CompileProgramRequest{1}).is_ok());
  EXPECT_TRUE(client->synchronize().is_ok());
  ASSERT_TRUE(eventually([this] { return is_compiling(); }));
  client.reset();
  EXPECT_TRUE(eventually([this] { return !is_compiling(); }));
  EXPECT_TRUE(eventually([this] { return !has_files(); }));
}

}  // namespace
}  // namespace tf::worker
