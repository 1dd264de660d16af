// SPDX-License-Identifier: Apache-2.0
// Cgroups of sessions, on a folder with the files that cgroup v2 has: which are written, and what keeps the
// worker from using them. What a kernel makes of them is not tested here.
#include "worker/supervisor/session_cgroups.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace tf::worker {
namespace {

namespace fs = std::filesystem;

class Cgroups : public testing::Test {
 protected:
  Cgroups() {
    std::string pattern = (fs::temp_directory_path() / "cgroups-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    own_ = pattern;
    write("cgroup.controllers", "cpuset cpu io memory pids");
    write("cgroup.subtree_control", "");
    write("cgroup.procs", std::to_string(::getpid()));
    // The kernel makes these with their folders.
    write("hip-worker/cgroup.procs", "");
    for (const char* const file : {"pids.max", "memory.max", "memory.oom.group", "memory.swap.max", "cpu.max",
                                   "cgroup.procs", "cgroup.kill", "cpu.stat"})
      write(std::string("session-1/") + file, "");
  }
  ~Cgroups() override { fs::remove_all(own_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((own_ / file).parent_path());
    std::ofstream(own_ / file) << text;
  }
  std::string read(const std::string& file) const {
    std::ifstream stream(own_ / file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path own_;
};

TEST_F(Cgroups, ASessionGetsItsLimitsBeforeItIsInside) {
  SessionCgroups cgroups;
  LimitOptions limits;
  limits.memory_mib = 100;
  limits.processes = 300;
  limits.processors = 2;
  ASSERT_TRUE(cgroups.open(own_.string(), limits).is_ok());
  EXPECT_EQ(read("hip-worker/cgroup.procs"), std::to_string(::getpid()));
  EXPECT_EQ(read("cgroup.subtree_control"), "+memory +pids +cpu");
  const Result<std::string> name = cgroups.enter(4711);
  ASSERT_TRUE(name.is_ok()) << name.status().to_string();
  EXPECT_EQ(name.value(), "session-1");
  EXPECT_EQ(read("session-1/cgroup.procs"), "4711");
  EXPECT_EQ(read("session-1/memory.max"), std::to_string(100ull << 20));
  EXPECT_EQ(read("session-1/memory.oom.group"), "1");
  EXPECT_EQ(read("session-1/memory.swap.max"), "0");
  EXPECT_EQ(read("session-1/pids.max"), "300");
  EXPECT_EQ(read("session-1/cpu.max"), "200000 100000");
}

TEST_F(Cgroups, WhatIsNotAskedForIsNotLimited) {
  write("cgroup.controllers", "cpu memory");
  SessionCgroups cgroups;
  ASSERT_TRUE(cgroups.open(own_.string(), {}).is_ok());
  ASSERT_TRUE(cgroups.enter(4711).is_ok());
  EXPECT_FALSE(cgroups.controls("pids"));
  EXPECT_TRUE(cgroups.controls("memory"));
  for (const char* const file : {"pids.max", "memory.max", "cpu.max"})
    EXPECT_EQ(read(std::string("session-1/") + file), "") << file;
}

TEST_F(Cgroups, ProcessorTimeIsThatOfAllInIt) {
  SessionCgroups cgroups;
  ASSERT_TRUE(cgroups.open(own_.string(), {}).is_ok());
  const Result<std::string> name = cgroups.enter(4711);
  ASSERT_TRUE(name.is_ok());
  write("session-1/cpu.stat", "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n");
  EXPECT_EQ(cgroups.processor_seconds(name.value()), 2.5);
  cgroups.remove(name.value());
  EXPECT_EQ(read("session-1/cgroup.kill"), "1");
  EXPECT_EQ(cgroups.processor_seconds(""), std::nullopt);
}

TEST_F(Cgroups, ACgroupWithOthersInItIsNotTouched) {
  write("cgroup.procs", std::to_string(::getpid()) + "\n1\n");
  SessionCgroups cgroups;
  const Status opened = cgroups.open(own_.string(), {});
  EXPECT_NE(opened.message().find("not delegated"), std::string::npos) << opened.message();
  EXPECT_FALSE(cgroups.available());
  EXPECT_EQ(read("cgroup.subtree_control"), "");
  EXPECT_EQ(read("hip-worker/cgroup.procs"), "");
  const Result<std::string> name = cgroups.enter(4711);
  ASSERT_TRUE(name.is_ok());
  EXPECT_EQ(name.value(), "");
}

TEST_F(Cgroups, WithoutControllersThereIsNothingToGain) {
  write("cgroup.controllers", "");
  SessionCgroups cgroups;
  EXPECT_FALSE(cgroups.open(own_.string(), {}).is_ok());
  EXPECT_FALSE(cgroups.controls("memory"));
}

TEST_F(Cgroups, AFailureHalfwayIsUndone) {
  fs::remove(own_ / "cgroup.subtree_control");
  fs::create_directory(own_ / "cgroup.subtree_control");
  SessionCgroups cgroups;
  EXPECT_FALSE(cgroups.open(own_.string(), {}).is_ok());
  EXPECT_EQ(read("cgroup.procs"), std::to_string(::getpid()));
  EXPECT_FALSE(cgroups.available());
}

TEST_F(Cgroups, TheProcessorsGrantedAreTheFewestOfAllLevels) {
  EXPECT_EQ(processors_granted(own_.string()), std::nullopt) << "the root of the tree has no such file";
  write("cpu.max", "350000 100000");
  write("service/cgroup.procs", "");
  write("service/cpu.max", "max 100000");
  const std::string service = (own_ / "service").string();
  EXPECT_EQ(processors_granted(service), 4u);
  write("service/cpu.max", "20000 100000");
  EXPECT_EQ(processors_granted(service), 1u);
  for (const char* const nonsense : {"", "nonsense", "7 0", "7"}) {
    write("service/cpu.max", nonsense);
    EXPECT_EQ(processors_granted(service), 4u) << nonsense;
  }
}

}  // namespace
}  // namespace tf::worker
