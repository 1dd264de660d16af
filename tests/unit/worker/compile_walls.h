// SPDX-License-Identifier: Apache-2.0
// Clients that let a worker compile: real workers, the CPU runtime, and the real compiler.
#pragma once

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

namespace tf::worker {

namespace fs = std::filesystem;

// A source that keeps a compiler busy until something stops it.
inline constexpr char kBomb[] =
    "constexpr unsigned long sum(unsigned long to) {\n"
    "  unsigned long all = 0;\n"
    "  for (unsigned long i = 0; i < to; ++i) all += i;\n"
    "  return all;\n"
    "}\n"
    "static_assert(sum(1ul << 40) != 0);\n";

// A folder with a secret in it, and one for the worker's temporary files.
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

  static protocol::RtcProgram program_of(const std::string& text,
                                         const std::vector<std::string>& options = {}) {
    protocol::RtcProgram program;
    program.text = text;
    program.name = "a.hip";
    program.options = options;
    return program;
  }
  // A client whose program, number 1, is at the worker.
  std::unique_ptr<RawClient> send(const WorkerProcess& worker, const protocol::RtcProgram& program) {
    EXPECT_TRUE(worker.ready());
    auto client = std::make_unique<RawClient>(worker, tcp::transport());
    EXPECT_TRUE(client->status.is_ok()) << client->status.to_string();
    const std::vector<std::byte> bytes = protocol::encode(program).value();
    BulkCompletion sent;
    EXPECT_TRUE(client->endpoint->bulk().send(1, bytes, sent).is_ok());
    EXPECT_TRUE(client->post(protocol::SendProgramRequest{1, bytes.size()}).is_ok());
    EXPECT_TRUE(client->queue->await(sent, Deadline::after(std::chrono::seconds(20))).is_ok());
    return client;
  }
  protocol::RtcResult compile(const std::vector<std::string>& arguments, const std::string& text,
                              const std::vector<std::string>& options = {}) {
    const WorkerProcess worker(arguments, TF_CPU_RUNTIME);
    return compile(worker, program_of(text, options));
  }
  protocol::RtcResult compile(const WorkerProcess& worker, const protocol::RtcProgram& program) {
    const std::unique_ptr<RawClient> owned = send(worker, program);
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
  std::string secret() const { return (home_ / "secret.h").string(); }
  std::string with_secret() const { return "#include \"" + secret() + "\"\n"; }

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

}  // namespace tf::worker
