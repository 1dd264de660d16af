// SPDX-License-Identifier: Apache-2.0
// hiprtc on the worker, with the fake runtime's: results, slow compiles, the session's end, hostile clients.
#include "worker/session/compiles.h"

#include <gtest/gtest.h>
#include <hip/hiprtc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hipcore/wire/rtc_program.h"
#include "session_rig.h"
#include "transport/endpoint.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;
using protocol::RtcProgram;
using protocol::RtcResult;

class CompilesTest : public testing::Test {
 protected:
  explicit CompilesTest(const SessionRig::Adjust& adjust = {})
      : rig_(TF_FAKE_RUNTIME, make_loopback_pair(), adjust) {
    rig_.start();
  }

  // The program is on its way to the worker when it returns, its name there in `tag`.
  std::uint64_t send(std::span<const std::byte> bytes) {
    const std::uint64_t tag = next_tag_++;
    BulkCompletion sent;
    EXPECT_TRUE(rig_.bulk().send(tag, bytes, sent).is_ok());
    rig_.post(protocol::SendProgramRequest{tag, bytes.size()});
    EXPECT_TRUE(rig_.await(sent).is_ok());
    return tag;
  }
  std::uint64_t send(const RtcProgram& program) { return send(protocol::encode(program).value()); }
  // Status of the payload; what arrived in `result`.
  Status fetch(std::uint64_t program, std::size_t bytes, RtcResult& result) {
    std::vector<std::byte> target(bytes);
    BulkCompletion received;
    const std::uint64_t tag = next_tag_++;
    EXPECT_TRUE(rig_.bulk().receive(tag, target, received).is_ok());
    rig_.post(protocol::FetchProgramRequest{program, tag});
    TF_RETURN_IF_ERROR(rig_.await(received));
    Result<RtcResult> decoded = protocol::decode_rtc_result(target);
    if (decoded) result = std::move(*decoded);
    return decoded.status();
  }
  std::size_t compile(std::uint64_t program) {
    EXPECT_EQ(rig_.call(protocol::CompileProgramRequest{program}), hipSuccess);
    return static_cast<std::size_t>(rig_.reply_body<protocol::CompileProgramReply>().bytes);
  }
  RtcResult whole(const RtcProgram& program) {
    const std::uint64_t sent = send(program);
    const std::size_t bytes = compile(sent);
    RtcResult result;
    const Status fetched = fetch(sent, bytes, result);
    EXPECT_TRUE(fetched.is_ok()) << fetched.to_string();
    return result;
  }

  SessionRig rig_;
  std::uint64_t next_tag_ = 1;
};

TEST_F(CompilesTest, TheResultIsTheRuntimesOwn) {
  const RtcResult result =
      whole({"source", "a.hip", {{"h.h", "text"}}, {"-O2", "-DX"}, {"f<int>", "nothing", "g"}});
  EXPECT_EQ(result.result, HIPRTC_SUCCESS);
  EXPECT_EQ(result.code, "txeth.hecruos");
  EXPECT_EQ(result.log, "device 0: a.hip -O2 -DX");
  EXPECT_EQ(result.lowered_names, (std::vector<protocol::RtcEntry>{{"f<int>", "_Zf<int>"}, {"g", "_Zg"}}));
}

// A compiler that cannot ask the runtime for the device: the program's target is the device's, unless it
// names one.
class CompilesForTargets : public CompilesTest {
 protected:
  CompilesForTargets()
      : CompilesTest([](OptionalFunctions& optional, protocol::WorkerSnapshot& snapshot) {
          optional.rtc.knows_target = false;
          snapshot.devices[0].properties.gcn_arch_name = "gfx90a:xnack-";
        }) {}
};

TEST_F(CompilesForTargets, TheDevicesIsAnOption) {
  EXPECT_EQ(whole({"source", "a.hip", {}, {"-O2"}, {}}).log,
            "device 0: a.hip -O2 --offload-arch=gfx90a:xnack-");
  for (const char* own : {"--offload-arch=gfx942", "--gpu-architecture=gfx942"})
    EXPECT_EQ(whole({"source", "a.hip", {}, {own}, {}}).log, std::string("device 0: a.hip ") + own);
}

TEST_F(CompilesTest, WhatDoesNotCompileHasALog) {
  const RtcResult result = whole({"#error", "bad.hip", {}, {"-w"}, {"f"}});
  EXPECT_EQ(result.result, HIPRTC_ERROR_COMPILATION);
  EXPECT_EQ(result.log, "device 0: bad.hip -w");
  EXPECT_TRUE(result.code.empty());
  EXPECT_TRUE(result.lowered_names.empty());
}

TEST_F(CompilesTest, LargeOnesToo) {
  RtcProgram program{std::string(20 << 20, 'a'), "large.hip", {}, {}, {}};
  program.text += 'b';
  const RtcResult result = whole(program);
  EXPECT_EQ(result.code.size(), program.text.size());
  EXPECT_EQ(result.code.front(), 'b');
}

TEST_F(CompilesTest, ARuntimeWithoutACompilerSaysSo) {
  const RtcResult result = compile_program({}, {"source", "a.hip", {}, {}, {}});
  EXPECT_EQ(result.result, HIPRTC_ERROR_INTERNAL_ERROR);
  EXPECT_NE(result.log.find("no compiler"), std::string::npos);
}

TEST_F(CompilesTest, ModulesAreCompiledAndLinked) {
  const RtcResult part = whole({"source", "a.hip", {}, {"-O2", "-fgpu-rdc"}, {}});
  EXPECT_EQ(part.code, "BCecruos");
  RtcProgram program;
  program.modules = {{"one", part.code}, {"two", "BC\1"}};
  const RtcResult linked = whole(program);
  EXPECT_EQ(linked.result, HIPRTC_SUCCESS);
  EXPECT_EQ(linked.code, "one=BCecruos;two=BC\1;");
  EXPECT_EQ(linked.log, "");
  program.modules.push_back({"bad", "x"});
  const RtcResult bad = whole(program);
  EXPECT_EQ(bad.result, 100);  // HIPRTC_ERROR_LINKING
  EXPECT_EQ(bad.code, "");
  EXPECT_EQ(bad.log, "a bad module");
  program.modules = {{"empty", "x"}};
  const RtcResult empty = whole(program);
  EXPECT_EQ(empty.result, HIPRTC_ERROR_INTERNAL_ERROR) << "a code object of no bytes is none";
  EXPECT_NE(empty.log.find("no code"), std::string::npos);
}

TEST_F(CompilesTest, ARuntimeWithoutALinkerSaysSo) {
  RtcProgram program;
  program.modules = {{"one", "BC"}};
  const RtcResult result = compile_program({}, program);
  EXPECT_EQ(result.result, HIPRTC_ERROR_INTERNAL_ERROR);
  EXPECT_NE(result.log.find("no linker"), std::string::npos);
}

TEST_F(CompilesTest, ASlowOneHoldsUpNobody) {
  const std::uint64_t program = send({"source", "slow.hip", {}, {"--wait-ms=1000"}, {}});
  std::atomic<bool> done{false};
  std::thread slow([&] {
    std::vector<std::byte> reply(64);
    const protocol::CompileProgramRequest request{program};
    EXPECT_TRUE(rig_.queue()
                    .call(static_cast<std::uint16_t>(request.kOp), 0, std::as_bytes(std::span(&request, 1)),
                          {}, reply, Deadline::after(20s))
                    .is_ok());
    done = true;
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rig_.synchronize(0), hipSuccess);
  EXPECT_EQ(whole({"quick", "quick.hip", {}, {}, {}}).code, "kciuq");
  EXPECT_FALSE(done);
  slow.join();
}

TEST_F(CompilesTest, TheSessionEndsWhileOneRuns) {
  const std::uint64_t program = send({"source", "slow.hip", {}, {"--wait-ms=3000"}, {}});
  rig_.post(protocol::CompileProgramRequest{program});
  EXPECT_EQ(rig_.synchronize(0), hipSuccess);
  const auto start = std::chrono::steady_clock::now();
  rig_.end_session();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
}

TEST_F(CompilesTest, ManyAtOnceAllComeBack) {
  std::vector<std::uint64_t> programs;
  for (int i = 0; i < 50; ++i) programs.push_back(send({std::to_string(i), "n.hip", {}, {}, {}}));
  for (std::size_t i = programs.size(); i-- != 0;) {
    const std::size_t bytes = compile(programs[i]);
    RtcResult result;
    ASSERT_TRUE(fetch(programs[i], bytes, result).is_ok());
    std::string expected = std::to_string(i);
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(result.code, expected);
  }
}

TEST_F(CompilesTest, ResultsThatNobodyFetchesGo) {
  const std::uint64_t first = send({"first", "n.hip", {}, {}, {}});
  const std::size_t bytes = compile(first);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < kResultsMax; ++i) compile(last = send({"other", "n.hip", {}, {}, {}}));
  RtcResult result;
  EXPECT_EQ(abort_reason(fetch(first, bytes, result)), hipErrorInvalidHandle);
  EXPECT_TRUE(fetch(last, bytes, result).is_ok());
  EXPECT_EQ(abort_reason(fetch(last, bytes, result)), hipErrorInvalidHandle) << "fetched once";
}

TEST_F(CompilesTest, NonsenseIsRefused) {
  EXPECT_EQ(rig_.call(protocol::CompileProgramRequest{12345}), hipErrorOutOfMemory) << "never sent";
  const std::vector<std::byte> garbage(1000, std::byte{0xa5});
  EXPECT_EQ(rig_.call(protocol::CompileProgramRequest{send(garbage)}), hipErrorInvalidValue);
  const std::uint64_t once = send({"source", "n.hip", {}, {}, {}});
  compile(once);
  EXPECT_EQ(rig_.call(protocol::CompileProgramRequest{once}), hipErrorOutOfMemory) << "compiled once";
  rig_.post(protocol::SendProgramRequest{next_tag_, 1ull << 40});
  EXPECT_EQ(rig_.call(protocol::CompileProgramRequest{next_tag_++}), hipErrorOutOfMemory);
  rig_.post(protocol::SendProgramRequest{next_tag_, 0});
  EXPECT_EQ(rig_.call(protocol::CompileProgramRequest{next_tag_}), hipErrorOutOfMemory);
  EXPECT_EQ(rig_.synchronize(0), hipSuccess);
}

}  // namespace
}  // namespace tf::worker
