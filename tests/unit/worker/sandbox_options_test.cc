// SPDX-License-Identifier: Apache-2.0
// --user, --session-uids and the like: what they mean, and what is said of a wrong one. And who becomes whom.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "parsed_options.h"
#include "worker/sandbox/sandbox.h"
#include "worker/supervisor/session_users.h"

namespace tf::worker {
namespace {

TEST(SandboxOptions, WithoutThemThereAreWallsAndOneUser) {
  const Parsed parsed = parse({});
  ASSERT_EQ(parsed.result, ParseResult::kRun) << parsed.said;
  EXPECT_FALSE(parsed.options.sandbox.off || parsed.options.sandbox.required);
  EXPECT_FALSE(parsed.options.users.same || parsed.options.users.range);
}

TEST(SandboxOptions, PathsAndSwitches) {
  const Parsed parsed = parse({"--require-sandbox", "--readable", "/data,/more", "--readable=/third"});
  ASSERT_EQ(parsed.result, ParseResult::kRun) << parsed.said;
  EXPECT_TRUE(parsed.options.sandbox.required);
  EXPECT_EQ(parsed.options.sandbox.readable, (std::vector<std::string>{"/data", "/more", "/third"}));
  EXPECT_TRUE(parse({"--no-sandbox"}).options.sandbox.off);
}

TEST(SandboxOptions, AmdsDriverIsBehindWallsOnlyIfAsked) {
  const std::vector<std::string> none = {"/dev/dri", "/dev/infiniband", "/dev/nvidia0", "/dev/nvidia-uvm"};
  const std::vector<std::string> devices = {"/dev/dri", "/dev/nvidia0", "/dev/kfd"};
  SandboxOptions options;
  EXPECT_TRUE(spares_drivers(options, "auto", devices));
  EXPECT_TRUE(spares_drivers(options, "/some/runtime.so", devices));
  EXPECT_FALSE(spares_drivers(options, "cpu", devices));
  EXPECT_FALSE(spares_drivers(options, "cuda", devices));
  EXPECT_FALSE(spares_drivers(options, "auto", none));
  options.with_gpus = parse({"--sandbox"}).options.sandbox.with_gpus;
  EXPECT_FALSE(spares_drivers(options, "auto", devices));
  SandboxOptions required;
  required.required = true;
  EXPECT_FALSE(spares_drivers(required, "auto", {"/dev/kfd"}));
  SandboxOptions users;
  users.user = Account{};
  EXPECT_FALSE(spares_drivers(users, "auto", {"/dev/kfd"}));
}

TEST(SandboxOptions, UsersTakeRoot) {
  const Parsed same = parse({"--user", "root"});
  const Parsed range = parse({"--session-uids", "61000-61064"});
  if (::geteuid() != 0) {
    EXPECT_NE(same.said.find("only root"), std::string::npos) << same.said;
    EXPECT_NE(range.said.find("only root"), std::string::npos) << range.said;
    GTEST_SKIP() << "the rest takes root";
  }
  ASSERT_TRUE(same.options.users.same && range.options.users.range) << same.said << range.said;
  EXPECT_EQ(same.options.users.same->user, 0u);
  EXPECT_EQ(range.options.users.range->first, 61000u);
  EXPECT_EQ(range.options.users.range->last, 61064u);
}

TEST(SandboxOptions, WhatIsWrongIsSaid) {
  const auto expect_said = [](std::vector<std::string> words, const std::string& said) {
    const Parsed parsed = parse(std::move(words));
    EXPECT_EQ(parsed.result, ParseResult::kExitError);
    EXPECT_NE(parsed.said.find(said), std::string::npos) << parsed.said;
  };
  expect_said({"--session-uids", "61000-61063"}, "at least 65 numbers");
  expect_said({"--session-uids", "0-99"}, "0 not among them");
  expect_said({"--session-uids", "61099-61000"}, "at least 65 numbers");
  for (const char* const text : {"61000", "61000-", "-61000", "a-b", "61000-61099x", "0-99999999999"})
    expect_said({"--session-uids", text}, "two numbers from 0 to");
  expect_said({"--user", "no-such-user-here"}, "there is no such user");
  expect_said({"--user", "root", "--session-uids", "61000-61099"}, "--session-uids");
  expect_said({"--no-sandbox", "--require-sandbox"}, "--no-sandbox");
}

TEST(SessionUsers, NoTwoAtATime) {
  UserOptions options;
  options.range = {100, 102};
  SessionUsers users(options);
  std::set<uid_t> taken;
  for (int count = 0; count < 3; ++count) {
    ASSERT_TRUE(users.available());
    taken.insert(users.take()->user);
  }
  EXPECT_EQ(taken, (std::set<uid_t>{100, 101, 102}));
  EXPECT_FALSE(users.available());
  users.give_back(Account{101, 101});
  ASSERT_TRUE(users.available());
  EXPECT_EQ(users.take()->group, 101u);
}

TEST(SessionUsers, OneForAllOrOurs) {
  UserOptions options;
  SessionUsers ours(options);
  EXPECT_TRUE(ours.available());
  EXPECT_FALSE(ours.take());
  options.same = Account{7, 8};
  SessionUsers same(options);
  EXPECT_EQ(same.take()->user, 7u);
  EXPECT_TRUE(same.available());
  EXPECT_EQ(same.take()->group, 8u);
}

}  // namespace
}  // namespace tf::worker
