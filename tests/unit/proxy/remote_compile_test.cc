// SPDX-License-Identifier: Apache-2.0
// hiprtc's way to the worker, through the functions that libhiprtc finds: results, failures, a worker that
// dies.
#include "proxy/module/remote_compile.h"

#include <gtest/gtest.h>
#include <hip/hiprtc.h>

#include <cstring>
#include <string>
#include <thread>

#include "hipcore/wire/remote_rtc.h"
#include "hipcore/wire/rtc_program.h"
#include "proxy/client/process.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kRemoteCompileMemoryBytes = 1 << 20;

class RemoteCompileTest : public ::testing::Test {
 protected:
  RemoteCompileTest() {
    auto [client, server] = make_loopback_pair();
    worker_ = std::make_unique<FakeWorker>(std::move(server), kRemoteCompileMemoryBytes);
    Connected parts;
    parts.endpoint = std::move(client);
    parts.snapshot = fake_snapshot(kRemoteCompileMemoryBytes);
    parts.snapshot.devices[0].properties.gcn_arch_name = "sm_90";
    client_ = std::make_unique<Client>(std::move(parts));
    use_client(client_.get());
  }
  ~RemoteCompileTest() override { use_client(nullptr); }

  static void take(void* context, const void* result, std::size_t bytes) {
    auto decoded = protocol::decode_rtc_result({static_cast<const std::byte*>(result), bytes});
    ASSERT_TRUE(decoded.is_ok()) << decoded.status().to_string();
    *static_cast<protocol::RtcResult*>(context) = std::move(*decoded);
  }
  static protocol::RtcResult compile(const std::string& text) {
    auto program = protocol::encode(protocol::RtcProgram{text, "a.hip", {}, {"-O2", "-w"}, {}});
    protocol::RtcResult result;
    EXPECT_EQ(hip_remote_rtc_compile(program->data(), program->size(), take, &result), 1);
    return result;
  }

  std::unique_ptr<FakeWorker> worker_;
  std::unique_ptr<Client> client_;
};

TEST_F(RemoteCompileTest, TheTargetIsTheDevicesArchitecture) {
  char name[6] = {};
  EXPECT_EQ(hip_remote_rtc_target(name, sizeof name), 1);
  EXPECT_STREQ(name, "sm_90");
  EXPECT_EQ(hip_remote_rtc_target(name, 5), 0) << "no room for its end";
}

TEST_F(RemoteCompileTest, CompilesThere) {
  const protocol::RtcResult result = compile("source");
  EXPECT_EQ(result.result, HIPRTC_SUCCESS);
  EXPECT_EQ(result.code, "ecruos");
  EXPECT_EQ(result.log, "-O2-w");
  EXPECT_EQ(compile(std::string(3 << 20, 'x')).code.size(), 3u << 20);
}

TEST_F(RemoteCompileTest, WhatGoesWrongIsInTheLog) {
  worker_->fail_next_compile = hipErrorOutOfMemory;
  EXPECT_EQ(compile("source").result, HIPRTC_ERROR_OUT_OF_MEMORY);
  worker_->fail_next_compile = hipErrorInvalidValue;
  const protocol::RtcResult refused = compile("source");
  EXPECT_EQ(refused.result, HIPRTC_ERROR_INTERNAL_ERROR);
  EXPECT_NE(refused.log.find("HIP error 1"), std::string::npos) << refused.log;
  worker_->abort_next_fetch = hipErrorInvalidHandle;
  EXPECT_EQ(compile("source").result, HIPRTC_ERROR_INTERNAL_ERROR);
  worker_->claim_result_bytes = protocol::kRtcResultBytesMax + 1;
  EXPECT_EQ(compile("source").result, HIPRTC_ERROR_INTERNAL_ERROR);
  EXPECT_EQ(compile("source").code, "ecruos") << "the session goes on";
}

TEST_F(RemoteCompileTest, ALostWorkerIsAnErrorThatSaysSo) {
  worker_->compile_for_ever = true;
  std::thread end([this] {
    while (!worker_->compiling) std::this_thread::yield();
    worker_->die();
  });
  for (int i = 0; i < 2; ++i) {  // while it compiles, and afterwards
    const protocol::RtcResult result = compile("source");
    EXPECT_EQ(result.result, HIPRTC_ERROR_INTERNAL_ERROR);
    EXPECT_NE(result.log.find("the worker is lost"), std::string::npos) << result.log;
  }
  end.join();
  char name[16] = {};
  EXPECT_EQ(hip_remote_rtc_target(name, sizeof name), 1) << "what it was";
  EXPECT_STREQ(name, "sm_90");
}

}  // namespace
}  // namespace tf::proxy
