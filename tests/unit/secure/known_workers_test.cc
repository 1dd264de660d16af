// SPDX-License-Identifier: Apache-2.0
// Workers that a client has met.
#include "transport/secure/known_workers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/unit/secure/folder.h"

namespace tf::secure {
namespace {

using Answer = KnownWorkers::Answer;

PublicKey worker_key(std::uint8_t number) {
  PublicKey key;
  key.bytes[5] = number;
  return key;
}

TEST(KnownWorkers, AreNewThenTheSameThenChanged) {
  const Folder folder;
  const std::string path = folder.file("settings/known_workers");
  Result<KnownWorkers> known = KnownWorkers::read(path);
  ASSERT_TRUE(known.is_ok()) << known.status().to_string();
  EXPECT_EQ(known->ask("gpu:1", worker_key(1)), Answer::kNew);
  ASSERT_TRUE(KnownWorkers::append(path, "gpu:1", worker_key(1)).is_ok());
  ASSERT_TRUE(KnownWorkers::append(path, "[::1]:2", worker_key(2)).is_ok());
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  known = KnownWorkers::read(path);
  ASSERT_TRUE(known.is_ok()) << known.status().to_string();
  EXPECT_EQ(known->ask("gpu:1", worker_key(1)), Answer::kSame);
  EXPECT_EQ(known->ask("gpu:1", worker_key(2)), Answer::kChanged);
  EXPECT_EQ(known->ask("gpu:2", worker_key(1)), Answer::kNew);
  EXPECT_EQ(known->ask("[::1]:2", worker_key(2)), Answer::kSame);
  ASSERT_NE(known->find("[::1]:2"), nullptr);
  EXPECT_EQ(known->find("[::1]:2")->line, 2u);
  EXPECT_EQ(known->find("gpu:2"), nullptr);
}

TEST(KnownWorkers, AreAddedBehindALineWithoutItsEnd) {
  const Folder folder;
  const std::string path = folder.write("known", "gpu:1 " + worker_key(1).to_text());
  ASSERT_TRUE(KnownWorkers::append(path, "gpu:2", worker_key(2)).is_ok());
  const Result<KnownWorkers> known = KnownWorkers::read(path);
  ASSERT_TRUE(known.is_ok()) << known.status().to_string();
  EXPECT_EQ(known.value().ask("gpu:1", worker_key(1)), Answer::kSame);
  EXPECT_EQ(known.value().ask("gpu:2", worker_key(2)), Answer::kSame);
}

TEST(KnownWorkers, MayHaveTwoKeysForAWhile) {
  const Result<KnownWorkers> known =
      KnownWorkers::parse("gpu:1 " + worker_key(1).to_text() + "\ngpu:1 " + worker_key(2).to_text() + "\n");
  ASSERT_TRUE(known.is_ok());
  EXPECT_EQ(known.value().ask("gpu:1", worker_key(2)), Answer::kSame);
  EXPECT_EQ(known.value().ask("gpu:1", worker_key(3)), Answer::kChanged);
}

TEST(KnownWorkers, WhatIsNotUnderstoodIsAnErrorWithItsLine) {
  const std::string key = worker_key(1).to_text();
  for (const std::string& wrong :
       {std::string("gpu:1"), std::string("gpu:1 rsa AAAA"), "gpu:1 " + key + " more", "gpu:1 " + key + "x",
        std::string(kWorkerNameBytesMax + 1, 'a') + " " + key}) {
    const Result<KnownWorkers> known = KnownWorkers::parse("# mine\ngpu:2 " + key + "\n" + wrong);
    EXPECT_TRUE(known.status().message().starts_with("line 3: ")) << known.status().message();
  }
}

TEST(KnownWorkers, AreLimitedAndMustNotBeOthers) {
  std::string text;
  for (std::size_t number = 0; number <= kKnownWorkersMax; ++number)
    text += "gpu:1 " + worker_key(1).to_text() + "\n";
  EXPECT_EQ(KnownWorkers::parse(text).code(), Code::kResourceExhausted);
  const Folder folder;
  EXPECT_EQ(KnownWorkers::read(folder.write("known", "", 0622)).code(), Code::kPermission);
}

}  // namespace
}  // namespace tf::secure
