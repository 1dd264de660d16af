// SPDX-License-Identifier: Apache-2.0
// Sealed records: whatever happens to one on its way is noticed.
#include "transport/secure/records.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "transport/secure/key.h"

namespace tf::secure {
namespace {

using Bytes = std::vector<std::byte>;

Bytes text(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t index = 0; index < size; ++index) bytes[index] = static_cast<std::byte>(index * 7 + 1);
  return bytes;
}

class RecordsTest : public testing::TestWithParam<Cipher> {
 protected:
  static constexpr std::uint64_t kPerKey = 3;  // so that keys change here
  void SetUp() override {
    ASSERT_TRUE(public_key_of(SecretKey()).is_ok());  // loads OpenSSL
    secret_.data()[7] = 7;
  }
  Sealer sealer() const { return Sealer::make(secret_, GetParam(), kPerKey).value(); }
  Opener opener() const { return Opener::make(secret_, GetParam(), kPerKey).value(); }
  static Bytes sealed(Sealer& sealer, const Bytes& plain) {
    Bytes record(plain.size() + kRecordOverhead);
    EXPECT_TRUE(sealer.seal(plain, record).is_ok());
    return record;
  }
  static Result<Bytes> opened(Opener& opener, const Bytes& record) {
    Result<std::size_t> bytes = Opener::plain_bytes(std::span(record).first<kRecordHeaderBytes>());
    if (!bytes) return bytes.status();
    Bytes plain(*bytes, std::byte{0xee});
    const Status status = opener.open(record, plain);
    if (status) return plain;
    EXPECT_EQ(plain, Bytes(*bytes)) << "what does not fit its tag must not be seen";
    return status;
  }

  Secret32 secret_;
};

TEST_P(RecordsTest, RoundTripThroughChangesOfKeys) {
  Sealer out = sealer();
  Opener in = opener();
  for (const std::size_t size : {1ul, 2ul, 15ul, 16ul, 17ul, 4096ul, kRecordBytesMax, 3ul, 5ul, 7ul, 9ul}) {
    const Bytes plain = text(size);
    const Bytes record = sealed(out, plain);
    Result<Bytes> back = opened(in, record);
    ASSERT_TRUE(back.is_ok()) << size << back.status().to_string();
    EXPECT_EQ(*back, plain);
  }
}

// As threads that share the work do; each object changes keys when its own numbers do.
TEST_P(RecordsTest, SeveralObjectsShareTheNumbersOfOneSecret) {
  std::array<Sealer, 2> out = {sealer(), sealer()};
  std::array<Opener, 2> in = {opener(), opener()};
  Sealer alone = sealer();
  const std::array<std::size_t, 10> sealers = {0, 1, 1, 0, 0, 1, 1, 1, 1, 0};
  for (std::uint64_t number = 0; number < sealers.size(); ++number) {
    const Bytes plain = text(30 + number);
    Bytes record(plain.size() + kRecordOverhead);
    ASSERT_TRUE(out[sealers[number]].work(number, plain, record).is_ok());
    EXPECT_EQ(record, sealed(alone, plain)) << number;
    Bytes back(plain.size());
    ASSERT_TRUE(in[number % 2].work(number, record, back).is_ok()) << number;
    EXPECT_EQ(back, plain);
  }
}

TEST_P(RecordsTest, ARecordOpensUnderItsOwnNumberOnly) {
  Sealer out = sealer();
  const Bytes plain = text(10);
  Bytes record(plain.size() + kRecordOverhead);
  ASSERT_TRUE(out.work(7, plain, record).is_ok());
  Bytes back(plain.size());
  for (const std::uint64_t wrong : {0u, 6u, 8u, 10u}) {
    Opener in = opener();
    EXPECT_EQ(in.work(wrong, record, back).code(), Code::kProtocol) << wrong;
  }
  Opener in = opener();
  EXPECT_TRUE(in.work(7, record, back).is_ok());
}

TEST_P(RecordsTest, TheSameTextNeverLooksTheSame) {
  Sealer out = sealer();
  std::vector<Bytes> seen;
  for (int count = 0; count < 10; ++count) {
    const Bytes record = sealed(out, text(32));
    for (const Bytes& other : seen) EXPECT_NE(record, other);
    seen.push_back(record);
  }
}

TEST_P(RecordsTest, EveryBitCounts) {
  Sealer out = sealer();
  const Bytes record = sealed(out, text(40));
  for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
    Bytes changed = record;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    Opener in = opener();
    EXPECT_EQ(opened(in, changed).code(), Code::kProtocol) << bit;
  }
}

TEST_P(RecordsTest, LostRepeatedAndMovedOnesAreNoticed) {
  Sealer out = sealer();
  const Bytes first = sealed(out, text(10));
  const Bytes second = sealed(out, text(10));
  Opener lost = opener();
  EXPECT_EQ(opened(lost, second).code(), Code::kProtocol);
  Opener repeated = opener();
  ASSERT_TRUE(opened(repeated, first).is_ok());
  EXPECT_EQ(opened(repeated, first).code(), Code::kProtocol);
  Opener moved = opener();
  EXPECT_EQ(opened(moved, second).code(), Code::kProtocol);
  EXPECT_EQ(opened(moved, first).code(), Code::kProtocol);
}

TEST_P(RecordsTest, AnotherDirectionOrCipherOpensNothing) {
  Sealer out = sealer();
  const Bytes record = sealed(out, text(10));
  Secret32 other = secret_;
  other.data()[0] = 9;
  Opener in = Opener::make(other, GetParam(), kPerKey).value();
  EXPECT_EQ(opened(in, record).code(), Code::kProtocol);
  const Cipher another = GetParam() == Cipher::kAes128Gcm ? Cipher::kChaCha20Poly1305 : Cipher::kAes128Gcm;
  Opener different = Opener::make(secret_, another, kPerKey).value();
  EXPECT_EQ(opened(different, record).code(), Code::kProtocol);
}

TEST_P(RecordsTest, ImpossibleLengthsAreRefusedBeforeAnythingIsRead) {
  for (const std::uint32_t length : {0u, static_cast<std::uint32_t>(kRecordBytesMax + 1), 0xffffffffu}) {
    const std::uint32_t both[2] = {length, ~length};
    std::array<std::byte, kRecordHeaderBytes> header;
    std::memcpy(header.data(), both, sizeof both);
    EXPECT_EQ(Opener::plain_bytes(header).code(), Code::kProtocol);
  }
}

INSTANTIATE_TEST_SUITE_P(Ciphers, RecordsTest, testing::Values(Cipher::kAes128Gcm, Cipher::kChaCha20Poly1305),
                         [](const auto& tested) {
                           return tested.param == Cipher::kAes128Gcm ? "Aes128Gcm" : "ChaCha20Poly1305";
                         });

TEST(Ciphers, AesIsTakenIfBothHaveIt) {
  EXPECT_EQ(choose_cipher(3, 3), Cipher::kAes128Gcm);
  EXPECT_EQ(choose_cipher(3, 2), Cipher::kChaCha20Poly1305);
  EXPECT_EQ(choose_cipher(2, 3), Cipher::kChaCha20Poly1305);
  EXPECT_NE(possible_ciphers() & 2, 0);
}

}  // namespace
}  // namespace tf::secure
