// SPDX-License-Identifier: Apache-2.0
// Keys as text and as files.
#include "transport/secure/key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "tests/unit/secure/folder.h"
#include "transport/secure/base64.h"
#include "transport/secure/file.h"
#include "transport/secure/key_file.h"
#include "transport/secure/level.h"
#include "transport/secure/session.h"

namespace tf::secure {
namespace {

// RFC 8410, section 10.3, and the public key of 10.1.
constexpr const char* kPem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublic = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";

TEST(Key, IsReadAsOthersWriteIt) {
  const Result<SecretKey> key = parse_secret_key(kPem);
  ASSERT_TRUE(key.is_ok()) << key.status().to_string();
  EXPECT_EQ(to_pem(key.value()), kPem);
  const Result<PublicKey> open = public_key_of(key.value());
  ASSERT_TRUE(open.is_ok()) << open.status().to_string();
  EXPECT_EQ(open.value().to_text(), std::string("ed25519 ") + kPublic);
  EXPECT_EQ(parse_public_key(kPublic), open.value());
  EXPECT_TRUE(fingerprint(open.value()).starts_with("SHA256:"));
  EXPECT_EQ(fingerprint(open.value()).size(), 7u + 43u);
}

TEST(Key, GeneratedOnesDifferAndRoundTrip) {
  const SecretKey one = generate_key().value();
  const SecretKey other = generate_key().value();
  EXPECT_FALSE(one == other);
  EXPECT_TRUE(parse_secret_key(to_pem(one)).value() == one);
}

TEST(Key, OtherTextIsNoKeyAndIsNotRepeated) {
  const std::string pem = kPem;
  for (const std::string& text :
       {std::string(), std::string("secret-words"), pem.substr(0, pem.size() / 2),
        std::string("-----BEGIN PRIVATE KEY-----\nsecret-words\n-----END PRIVATE KEY-----\n"),
        std::string("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"),
        std::string("-----END PRIVATE KEY-----\n-----BEGIN PRIVATE KEY-----\n"),
        std::string("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"),
        std::string("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"),
        std::string(
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VvBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9E"
            "dVhC\n-----END PRIVATE KEY-----\n"),
        std::string(kKeyTextBytesMax + 1, 'x')}) {
    const Result<SecretKey> key = parse_secret_key(text);
    EXPECT_EQ(key.code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(key.status().message().find("secret-words"), std::string::npos);
  }
}

TEST(Base64, HasOneTextForEachValue) {
  for (const std::size_t size : {0u, 1u, 2u, 3u, 31u, 32u}) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t index = 0; index < size; ++index)
      bytes[index] = static_cast<std::uint8_t>(index * 37 + 5);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
  for (const char* text : {"A", "AA", "AAA", "A===", "AAA=AAAA", "AB==", "AAB=", "AA\n=", "AA==AA==", "===="})
    EXPECT_FALSE(from_base64(text).has_value()) << text;
  EXPECT_FALSE(parse_public_key("AAAA").has_value());
}

TEST(Level, IsOneOfThree) {
  EXPECT_EQ(parse_level("encrypt"), Level::kEncrypt);
  EXPECT_EQ(parse_level("auth"), Level::kAuth);
  EXPECT_EQ(parse_level("none"), Level::kNone);
  for (const char* text : {"", "Encrypt", "tls", "encrypt "})
    EXPECT_FALSE(parse_level(text).has_value()) << text;
}

TEST(KeyFile, IsSecretFromItsFirstMoment) {
  const Folder folder;
  const std::string path = folder.file("deep/er/key");
  const SecretKey key = generate_key().value();
  const mode_t before = ::umask(0);
  const Status wrote = write_key_file(path, key);
  ::umask(before);
  ASSERT_TRUE(wrote.is_ok()) << wrote.to_string();
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_TRUE(read_key_file(path).value() == key);
  EXPECT_NE(write_key_file(path, key).message().find("never overwritten"), std::string::npos);
}

TEST(KeyFile, WhoeverMayReadItMatters) {
  const Folder folder;
  for (const mode_t mode : {0640u, 0604u, 0660u, 0644u, 0601u}) {
    const Result<SecretKey> key = read_key_file(folder.write("key", kPem, mode));
    EXPECT_EQ(key.code(), Code::kPermission) << mode;
    EXPECT_NE(key.status().message().find("chmod 600 "), std::string::npos) << key.status().message();
  }
  EXPECT_TRUE(read_key_file(folder.write("key", kPem, 0400)).is_ok());
}

TEST(KeyFile, WhatIsNoKeyFileIsNamed) {
  const Folder folder;
  EXPECT_EQ(read_key_file(folder.file("none")).code(), Code::kUnavailable);
  const Result<SecretKey> folders = read_key_file(folder.file(""));
  EXPECT_NE(folders.status().message().find("not a regular file"), std::string::npos)
      << folders.status().message();
  const std::string path = folder.write("text", "hello");
  EXPECT_NE(read_key_file(path).status().message().find(path), std::string::npos);
  const Result<SecretKey> large = read_key_file(folder.write("large", std::string(100'000, 'x')));
  EXPECT_EQ(large.code(), Code::kResourceExhausted);
}

TEST(KeyFile, ThatCannotBeReadIsRefused) {
  const Folder folder;
  const std::string path = folder.write("key", kPem, 0000);
  const bool is_root = ::geteuid() == 0;  // which may read everything, so it is another user meanwhile
  if (is_root) {
    ASSERT_EQ(::setegid(65534), 0);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Result<SecretKey> key = read_key_file(path);
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
    ASSERT_EQ(::setegid(0), 0);
  }
  EXPECT_EQ(key.code(), Code::kPermission) << key.status().to_string();
  EXPECT_NE(key.status().message().find(path), std::string::npos);
}

TEST(KeyFile, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const Folder folder;
  const std::string path = folder.write("key", kPem);
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_NE(read_key_file(path).status().message().find("belongs to user 12345"), std::string::npos);
}

TEST(File, WordsOfStrangersAreShownHarmless) {
  EXPECT_EQ(shown("a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_LE(shown(std::string(1000, 'x')).size(), 100u);
}

// RFC 5869, A.1: the first block.
TEST(Session, KeysAreDerivedByHkdf) {
  ASSERT_TRUE(public_key_of(SecretKey()).is_ok());  // loads OpenSSL
  constexpr std::uint8_t kPrk[32] = {0x07, 0x77, 0x09, 0x36, 0x2c, 0x2e, 0x32, 0xdf, 0x0d, 0xdc, 0x3f,
                                     0x0d, 0xc4, 0x7b, 0xba, 0x63, 0x90, 0xb6, 0xc7, 0x3b, 0xb5, 0x0f,
                                     0x9c, 0x31, 0x22, 0xec, 0x84, 0x4a, 0xd7, 0xc2, 0xb3, 0xe5};
  constexpr std::uint8_t kOkm[32] = {0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43, 0x4f,
                                     0x64, 0xd0, 0x36, 0x2f, 0x2a, 0x2d, 0x2d, 0x0a, 0x90, 0xcf, 0x1a,
                                     0x5a, 0x4c, 0x5d, 0xb0, 0x2d, 0x56, 0xec, 0xc4, 0xc5, 0xbf};
  Secret32 secret;
  std::ranges::copy(kPrk, secret.data());
  const Result<Secret32> made = expand(secret, "\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9");
  ASSERT_TRUE(made.is_ok());
  EXPECT_TRUE(std::ranges::equal(made.value().bytes(), kOkm));
}

TEST(Session, NoTwoKeysAreAlike) {
  ASSERT_TRUE(public_key_of(SecretKey()).is_ok());
  const Session session{.level = Level::kEncrypt, .cipher = Cipher::kAes128Gcm, .secret = {}};
  const auto lane = [&](std::uint32_t transport, std::uint32_t number, Side sender, std::uint8_t proof) {
    return lane_secret(session, transport, number, sender, Proof{proof}).value();
  };
  const std::vector<Secret32> keys = {control_secret(session, Side::kClient).value(),
                                      control_secret(session, Side::kWorker).value(),
                                      lane(1, 0, Side::kClient, 7),
                                      lane(1, 0, Side::kWorker, 7),
                                      lane(1, 1, Side::kClient, 7),
                                      lane(2, 1, Side::kClient, 7),
                                      lane(11, 0, Side::kClient, 7),
                                      lane(1, 0, Side::kClient, 8),
                                      lane_proof_secret(session).value()};
  for (std::size_t one = 0; one < keys.size(); ++one)
    for (std::size_t other = 0; other < one; ++other) EXPECT_FALSE(keys[one] == keys[other]) << one << other;
}

}  // namespace
}  // namespace tf::secure
