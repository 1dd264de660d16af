// SPDX-License-Identifier: Apache-2.0
#include "proxy/base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "proxy/base/own_worker.h"
#include "reference/gen/variables.h"

namespace tf::proxy {
namespace {

class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const reference::Variable& variable : reference::kVariables)
      ::unsetenv(std::string(variable.name).c_str());
  }
  void TearDown() override { SetUp(); }
};

TEST_F(Environment, Defaults) {
  Result<Settings> settings = read_settings();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->worker, "localhost:18515");
  EXPECT_EQ(settings->transport, "auto");
  EXPECT_EQ(settings->connect_timeout, std::chrono::seconds(10));
  EXPECT_FALSE(settings->debug);
  EXPECT_EQ(settings->device, -1);
}

TEST_F(Environment, SocketWinsOverHost) {
  ::setenv("TF_WORKER_HOST", "gpu7", 1);
  EXPECT_EQ(read_settings()->worker, "gpu7:18515");
  ::setenv("TF_WORKER_SOCKET", "/run/hip.sock", 1);
  EXPECT_EQ(read_settings()->worker, "unix:/run/hip.sock");
  ::setenv("TF_WORKER_SOCKET", "unix:@hip", 1);
  EXPECT_EQ(read_settings()->worker, "unix:@hip");
}

TEST_F(Environment, WhatNamesAWorkerLeavesNoChoice) {
  EXPECT_TRUE(has_choice(read_settings().value()));
  for (const auto& [name, value] : {std::pair{"TF_WORKER_HOST", "localhost"},
                                    {"TF_WORKER_PORT", "18515"},
                                    {"TF_WORKER_SOCKET", "/a"},
                                    {"TF_KEY_FILE", "/my/key"},
                                    {"TF_SECURITY", "auth"}}) {
    ::setenv(name, value, 1);
    EXPECT_FALSE(has_choice(read_settings().value())) << name;
    ::unsetenv(name);
  }
  ::setenv("TF_SECURITY", "none", 1);
  EXPECT_TRUE(has_choice(read_settings().value()));
}

TEST_F(Environment, TensorFusionsVariablesComeAfterOurs) {
  ::setenv("TENSOR_FUSION_OPERATOR_GET_CONNECTION_URL", "http://operator/api", 1);
  EXPECT_EQ(read_settings()->operator_url, "http://operator/api");
  EXPECT_FALSE(has_choice(read_settings().value()));
  ::setenv("TENSOR_FUSION_OPERATOR_CONNECTION_INFO", "native+10.0.0.7+8000+w-1", 1);
  EXPECT_EQ(read_settings()->worker, "10.0.0.7:8000");
  EXPECT_EQ(read_settings()->operator_url, "");
  ::setenv("TENSOR_FUSION_OPERATOR_CONNECTION_INFO", "teapot", 1);
  EXPECT_EQ(
      read_settings().status().message().find("TENSOR_FUSION_OPERATOR_CONNECTION_INFO=\"teapot\": expected"),
      0u);
  ::setenv("TF_WORKER_HOST", "gpu7", 1);
  EXPECT_EQ(read_settings()->worker, "gpu7:18515");
  EXPECT_EQ(read_settings()->operator_url, "");
}

TEST_F(Environment, Keys) {
  EXPECT_FALSE(read_settings()->security);
  ::setenv("TF_SECURITY", "auth", 1);
  ::setenv("TF_KEY_FILE", "/my/key", 1);
  ::setenv("TF_KNOWN_WORKERS", "/my/known", 1);
  Result<Settings> settings = read_settings();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->security, secure::Level::kAuth);
  EXPECT_EQ(settings->key_file, "/my/key");
  EXPECT_EQ(settings->known_workers, "/my/known");
  ::setenv("TF_SECURITY", "tls", 1);
  EXPECT_EQ(read_settings().status().message(), "TF_SECURITY=tls: expected encrypt, auth or none");
}

TEST_F(Environment, Ipv6HostIsBracketed) {
  ::setenv("TF_WORKER_HOST", "::1", 1);
  EXPECT_EQ(read_settings()->worker, "[::1]:18515");
}

TEST_F(Environment, WrongNumbersNameTheVariable) {
  for (const char* bad : {"0", "65536", "x", "12x", "-1"}) {
    ::setenv("TF_WORKER_PORT", bad, 1);
    Result<Settings> settings = read_settings();
    ASSERT_FALSE(settings) << bad;
    EXPECT_NE(settings.status().message().find("TF_WORKER_PORT"), std::string::npos);
  }
  ::unsetenv("TF_WORKER_PORT");
  ::setenv("TF_CONNECT_TIMEOUT", "soon", 1);
  EXPECT_FALSE(read_settings());
}

TEST_F(Environment, ThreadsOfACopy) {
  EXPECT_FALSE(read_settings()->copy_threads);
  ::setenv("TF_COPY_THREADS", "3", 1);
  EXPECT_EQ(read_settings()->copy_threads, 3u);
  ::setenv("TF_COPY_THREADS", "auto", 1);
  EXPECT_FALSE(read_settings()->copy_threads);
  for (const char* bad : {"0", "17", "many"}) {
    ::setenv("TF_COPY_THREADS", bad, 1);
    EXPECT_NE(read_settings().status().message().find("TF_COPY_THREADS"), std::string::npos) << bad;
  }
}

TEST_F(Environment, ShapeOfTheNetwork) {
  EXPECT_FALSE(read_settings()->shape);
  ::setenv("TF_SHAPE", "rtt=1ms", 1);
  EXPECT_EQ(read_settings()->shape->rtt, std::chrono::milliseconds(1));
  ::setenv("TF_SHAPE", "far", 1);
  Result<Settings> settings = read_settings();
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.status().message().find("TF_SHAPE"), std::string::npos);
}

}  // namespace
}  // namespace tf::proxy
