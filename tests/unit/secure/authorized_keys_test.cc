// SPDX-License-Identifier: Apache-2.0
// Whom a file of authorized keys lets in, and what is wrong with one.
#include "transport/secure/authorized_keys.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/unit/secure/folder.h"

namespace tf::secure {
namespace {

using std::chrono::sys_days;
using namespace std::chrono_literals;

PublicKey key_number(int number) {
  PublicKey key;
  for (int byte = 0; byte < 4; ++byte) key.bytes[byte] = static_cast<std::uint8_t>(number >> 8 * byte);
  return key;
}

std::string line(const std::string& name, int number, const std::string& options = {}) {
  return name + " " + key_number(number).to_text() + (options.empty() ? "" : " " + options) + "\n";
}

TEST(AuthorizedKeys, NameTheirTenants) {
  const Result<AuthorizedKeys> keys =
      AuthorizedKeys::parse("# of the lab\n\n  " + line("alice", 1) + line("bob@lab-2.org", 2) +
                            "\t\r\n# no more\n" + line("alice", 3));
  ASSERT_TRUE(keys.is_ok()) << keys.status().to_string();
  EXPECT_EQ(keys.value().size(), 3u);
  EXPECT_EQ(keys.value().find(key_number(1)).value().name, "alice");
  EXPECT_EQ(keys.value().find(key_number(2)).value().name, "bob@lab-2.org");
  EXPECT_EQ(keys.value().find(key_number(3)).value().name, "alice");
  EXPECT_EQ(keys.value().find(key_number(4)).code(), Code::kPermission);
}

TEST(AuthorizedKeys, Expire) {
  const Result<AuthorizedKeys> keys = AuthorizedKeys::parse(line("alice", 1, "expires=2027-01-31"));
  ASSERT_TRUE(keys.is_ok()) << keys.status().to_string();
  const sys_days day(2027y / 1 / 31);
  EXPECT_TRUE(keys.value().find(key_number(1), day - 1s).is_ok());
  const Result<Tenant> late = keys.value().find(key_number(1), day);
  EXPECT_EQ(late.code(), Code::kPermission);
  EXPECT_NE(late.status().message().find("expired"), std::string::npos);
}

TEST(AuthorizedKeys, OtherOptionsAreTheReadersToJudge) {
  const CheckOptions check = [](std::span<const std::string> options) {
    return options.front() == "memory=8G" ? Status::ok() : invalid_argument("no " + options.front());
  };
  const Result<AuthorizedKeys> keys = AuthorizedKeys::parse(
      line("alice", 1, "memory=8G expires=2027-01-31 streams=4") + line("bob", 2), check);
  ASSERT_TRUE(keys.is_ok()) << keys.status().to_string();
  const Tenant alice = keys.value().find(key_number(1), sys_days(2026y / 1 / 1)).value();
  EXPECT_EQ(alice.options, (std::vector<std::string>{"memory=8G", "streams=4"}));
  EXPECT_TRUE(alice.expires.has_value());
  EXPECT_TRUE(keys.value().find(key_number(2)).value().options.empty());
  const Result<AuthorizedKeys> wrong =
      AuthorizedKeys::parse(line("bob", 2) + line("alice", 1, "colour=red"), check);
  EXPECT_EQ(wrong.status().message(), "line 2: no colour=red");
}

TEST(AuthorizedKeys, WhatIsNotUnderstoodIsAnErrorWithItsLine) {
  const std::string key = key_number(1).to_text();
  for (const std::string& wrong :
       {std::string("alice"), std::string("alice ed25519"), "alice rsa " + key, "alice " + key + "x",
        "al ice " + key, key, "alice " + key + " from=10.0.0.0/8", "alice " + key + " expires=2027-02-30",
        "alice " + key + " expires=tomorrow", "alice " + key + " expires=2027-1-31",
        "alice " + key + " # hers", "alice " + key + " expires=2027-01-31 expires=2027-01-31",
        std::string(65, 'a') + " " + key, "alice\x1b[0m " + key}) {
    const Result<AuthorizedKeys> keys = AuthorizedKeys::parse(line("bob", 2) + wrong + "\n" + line("eve", 3));
    EXPECT_EQ(keys.code(), Code::kInvalidArgument) << wrong;
    EXPECT_TRUE(keys.status().message().starts_with("line 2: ")) << keys.status().message();
    EXPECT_EQ(keys.status().message().find('\x1b'), std::string::npos);
  }
}

TEST(AuthorizedKeys, AKeyHasOneTenant) {
  const Result<AuthorizedKeys> keys = AuthorizedKeys::parse(line("alice", 1) + line("bob", 1));
  EXPECT_NE(keys.status().message().find("line 2: this key stands there already"), std::string::npos);
}

TEST(AuthorizedKeys, AreLimited) {
  std::string text;
  for (std::size_t number = 0; number <= kAuthorizedKeysMax; ++number)
    text += line("t", static_cast<int>(number));
  EXPECT_EQ(AuthorizedKeys::parse(text).code(), Code::kResourceExhausted);
}

TEST(AuthorizedKeys, TheFileMayBeReadButNotWrittenByOthers) {
  const Folder folder;
  EXPECT_EQ(AuthorizedKeys::read(folder.file("none")).code(), Code::kUnavailable);
  EXPECT_TRUE(AuthorizedKeys::read(folder.write("keys", line("alice", 1), 0644)).is_ok());
  for (const mode_t mode : {0664u, 0646u, 0666u}) {
    const Result<AuthorizedKeys> keys = AuthorizedKeys::read(folder.write("keys", line("alice", 1), mode));
    EXPECT_EQ(keys.code(), Code::kPermission) << mode;
    EXPECT_NE(keys.status().message().find("chmod go-w"), std::string::npos);
  }
  const std::string wrong = folder.write("wrong", "alice\n");
  EXPECT_NE(AuthorizedKeys::read(wrong).status().message().find(wrong + ", line 1: "), std::string::npos);
}

}  // namespace
}  // namespace tf::secure
