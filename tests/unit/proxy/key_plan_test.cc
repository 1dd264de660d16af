// SPDX-License-Identifier: Apache-2.0
// Which level a session has to have, by settings and address.
#include "proxy/base/key_plan.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tf::proxy {
namespace {

using secure::Level;

class KeyPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("XDG_CONFIG_HOME");
    ::setenv("HOME", "/home/alice", 1);
  }
  Result<KeyPlan> plan(const char* worker, bool on_host) const {
    return plan_keys(settings_, net::Address::parse(worker).value(), on_host);
  }
  Level level(const char* worker, bool on_host) const {
    const Result<KeyPlan> made = plan(worker, on_host);
    EXPECT_TRUE(made.is_ok()) << made.status().to_string();
    return made ? made.value().level : Level::kNone;
  }
  Settings settings_;
};

TEST_F(KeyPlanTest, UnsetItFollowsTheAddress) {
  EXPECT_EQ(level("unix:/run/hip.sock", true), Level::kNone);
  EXPECT_EQ(level("localhost:1", true), Level::kNone);
  EXPECT_EQ(level("gpuhost:1", false), Level::kEncrypt);
  EXPECT_EQ(level("gpuhost:1", true), Level::kNone) << "the name of this host";
  EXPECT_EQ(level("localhost:1", false), Level::kEncrypt) << "what only looks like this host";
}

TEST_F(KeyPlanTest, AKeyFileIsUsedOverTcp) {
  settings_.key_file = "/my/key";
  EXPECT_EQ(level("localhost:1", true), Level::kEncrypt);
  EXPECT_EQ(level("unix:/run/hip.sock", true), Level::kNone);
  EXPECT_EQ(plan("gpuhost:1", false).value().key_file, "/my/key");
}

TEST_F(KeyPlanTest, ALevelIsTakenAsItIs) {
  settings_.security = Level::kAuth;
  EXPECT_EQ(level("gpuhost:1", false), Level::kAuth);
  EXPECT_EQ(level("localhost:1", true), Level::kAuth);
  settings_.security = Level::kNone;
  settings_.key_file = "/my/key";
  EXPECT_EQ(level("localhost:1", true), Level::kNone);
}

TEST_F(KeyPlanTest, NoneIsForThisHost) {
  settings_.security = Level::kNone;
  const Result<KeyPlan> far = plan("gpuhost:1", false);
  EXPECT_EQ(far.code(), Code::kPermission);
  EXPECT_NE(far.status().message().find("TF_SECURITY=none is for workers on this host"), std::string::npos);
}

TEST_F(KeyPlanTest, FilesAreTheUsualOnesUnlessNamed) {
  const KeyPlan usual = plan("gpuhost:1", false).value();
  EXPECT_EQ(usual.key_file, "/home/alice/.config/hip-remote/key");
  EXPECT_EQ(usual.known_workers, "/home/alice/.config/hip-remote/known_workers");
  ::setenv("XDG_CONFIG_HOME", "/settings", 1);
  EXPECT_EQ(plan("gpuhost:1", false).value().key_file, "/settings/hip-remote/key");
  settings_.known_workers = "/etc/known";
  EXPECT_EQ(plan("gpuhost:1", false).value().known_workers, "/etc/known");
}

TEST_F(KeyPlanTest, WithoutAHomeTheyHaveToBeNamed) {
  ::unsetenv("HOME");
  const Result<KeyPlan> made = plan("gpuhost:1", false);
  EXPECT_NE(made.status().message().find("TF_KEY_FILE is not set"), std::string::npos);
  settings_.key_file = "/my/key";
  EXPECT_NE(plan("gpuhost:1", false).status().message().find("TF_KNOWN_WORKERS is not set"),
            std::string::npos);
}

}  // namespace
}  // namespace tf::proxy
