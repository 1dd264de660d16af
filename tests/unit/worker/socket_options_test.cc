// SPDX-License-Identifier: Apache-2.0
// --allow-uid, --allow-gid, --socket-mode and --socket-group: what they mean, and what is said of a wrong
// one.
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "parsed_options.h"

namespace tf::worker {
namespace {

constexpr uid_t kOther = 54321;
constexpr gid_t kForeign = 54321;

TEST(SocketOptions, NobodyButTheOwnUserWithoutThem) {
  const Parsed parsed = parse({});
  ASSERT_EQ(parsed.result, ParseResult::kRun) << parsed.said;
  EXPECT_TRUE(parsed.options.guests.users.empty() && parsed.options.guests.groups.empty());
  EXPECT_EQ(parsed.options.socket_file.mode, 0600u);
  EXPECT_FALSE(parsed.options.socket_file.group);
}

TEST(SocketOptions, ListsAndRepetitionsAndNames) {
  const Parsed parsed =
      parse({"--allow-uid", "7,root", "--allow-gid=9", "--allow-uid", "5,7", "--allow-gid", "9,root"});
  ASSERT_EQ(parsed.result, ParseResult::kRun) << parsed.said;
  EXPECT_EQ(parsed.options.guests.users, (std::vector<uid_t>{0, 5, 7}));
  EXPECT_EQ(parsed.options.guests.groups, (std::vector<gid_t>{0, 9}));
  EXPECT_EQ(parse({"--allow-uid", "4294967294"}).options.guests.users, std::vector<uid_t>{4294967294u});
}

TEST(SocketOptions, TheLeastModeThatWorks) {
  const auto mode = [](std::vector<std::string> words) {
    return parse(std::move(words)).options.socket_file.mode;
  };
  const std::string own_group = std::to_string(::getegid());
  EXPECT_EQ(mode({"--allow-uid", "root"}), 0600u) << "root needs no right to write";
  EXPECT_EQ(mode({"--allow-uid", std::to_string(::geteuid())}), 0600u);
  EXPECT_EQ(mode({"--allow-uid", std::to_string(kOther)}), 0666u);
  EXPECT_EQ(mode({"--allow-gid", own_group}), 0660u);
  EXPECT_EQ(mode({"--allow-gid", own_group + "," + own_group}), 0660u) << "one, named twice";
  EXPECT_EQ(mode({"--allow-gid", own_group, "--allow-uid", std::to_string(kOther)}), 0666u);
  EXPECT_EQ(mode({"--allow-gid", own_group, "--allow-uid", "0"}), 0660u);
  EXPECT_EQ(mode({"--allow-gid", own_group + ",54322"}), 0666u);
  EXPECT_EQ(parse({"--allow-gid", own_group}).options.socket_file.group, ::getegid());
  // A group that this process may not give the file to.
  if (::geteuid() != 0) {
    EXPECT_EQ(mode({"--allow-gid", std::to_string(kForeign)}), 0666u);
    EXPECT_FALSE(parse({"--allow-gid", std::to_string(kForeign)}).options.socket_file.group);
  }
}

TEST(SocketOptions, TheOperatorsModeAndGroup) {
  EXPECT_EQ(parse({"--socket-mode", "0640"}).options.socket_file.mode, 0640u);
  EXPECT_EQ(parse({"--socket-mode", "666"}).options.socket_file.mode, 0666u);
  EXPECT_EQ(parse({"--socket-mode=0", "--allow-uid", "9"}).options.socket_file.mode, 0u);
  const Parsed parsed = parse({"--allow-uid", "9", "--socket-group", "54321"});
  ASSERT_EQ(parsed.result, ParseResult::kRun) << parsed.said;
  EXPECT_EQ(parsed.options.socket_file.mode, 0660u);
  EXPECT_EQ(parsed.options.socket_file.group, kForeign);
  EXPECT_EQ(parse({"--allow-uid", "9", "--socket-group", "root"}).options.socket_file.group, 0u);
  const Parsed both = parse({"--allow-gid", "9", "--socket-group", "8", "--socket-mode", "620"});
  EXPECT_EQ(both.options.socket_file.mode, 0620u);
  EXPECT_EQ(both.options.socket_file.group, 8u);
}

TEST(SocketOptions, WrongOnesAreToldWhatIsPossible) {
  const std::string number = "expected a number from 0 to 4294967294";
  const std::string octal = "expected an octal number from 0 to 777";
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--allow-uid", "no-such-user"},
       "--allow-uid no-such-user: there is no such user here; expected the name"},
      {{"--allow-uid", "0,-1"}, "there is no such user here; expected the name of a user or its number"},
      {{"--allow-uid", "4294967295"}, number},
      {{"--allow-uid", "99999999999999999999"}, number},
      {{"--allow-uid", "1,,2"}, "--allow-uid needs a value: UID"},
      {{"--allow-uid", "0x0"}, "there is no such user here"},
      {{"--allow-gid", "no-such-group"}, "--allow-gid no-such-group: there is no such group here"},
      {{"--allow-gid", "4294967295"}, number},
      {{"--socket-mode", "888"}, octal},
      {{"--socket-mode", "1777"}, octal},
      {{"--socket-mode", "0o660"}, octal},
      {{"--socket-mode", "-1"}, octal},
      {{"--socket-mode", "u=rw"}, octal},
      {{"--allow-uid", "0", "--socket-group", "no-such-group"},
       "--socket-group no-such-group: there is no such"},
      {{"--socket-group", "0"}, "--socket-group needs --allow-uid or --allow-gid"}};
  for (const auto& [words, text] : wrong) {
    const Parsed parsed = parse(words);
    EXPECT_EQ(parsed.result, ParseResult::kExitError) << words.back();
    EXPECT_NE(parsed.said.find(text), std::string::npos) << parsed.said;
  }
}

// What comes from the command line stays one line of the log.
TEST(SocketOptions, StrangeNamesAreEscaped) {
  const Parsed parsed = parse({"--allow-uid", "x\nroot\x1b[2J" + std::string(5000, 'y')});
  EXPECT_EQ(parsed.result, ParseResult::kExitError);
  EXPECT_EQ(parsed.said.find('\x1b'), std::string::npos);
  EXPECT_LT(parsed.said.size(), 500u) << parsed.said;
}

TEST(SocketOptions, AnAbstractSocketHasNoFile) {
  EXPECT_EQ(parse({"--allow-uid", "0"}, "@hip").result, ParseResult::kRun);
  for (const std::string option : {"--socket-mode", "--socket-group"}) {
    const Parsed parsed = parse({"--allow-uid", "0", option, "0"}, "@hip");
    EXPECT_EQ(parsed.result, ParseResult::kExitError);
    EXPECT_NE(parsed.said.find(option + ": @hip is no file"), std::string::npos) << parsed.said;
  }
}

TEST(SocketOptions, NeedASocket) {
  for (const std::string option : {"--allow-uid", "--allow-gid", "--socket-mode"}) {
    std::string words[] = {"hip-worker", option, "0"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data()};
    Options options;
    testing::internal::CaptureStderr();
    EXPECT_EQ(parse_options(3, argv, options), ParseResult::kExitError);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(option + " needs --socket"), std::string::npos);
  }
}

}  // namespace
}  // namespace tf::worker
