// SPDX-License-Identifier: Apache-2.0
// Proofs of lanes: nothing but the right one fits.
#include "transport/secure/lane_proof.h"

#include <gtest/gtest.h>

#include "transport/secure/key.h"

namespace tf::secure {
namespace {

class LaneProofTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(public_key_of(SecretKey()).is_ok());  // loads OpenSSL
    session_.secret.data()[0] = 1;
    clients_ = LaneProof::make_nonce().value();
    answer_ = here().answer(clients_).value();
    proof_ = here().prove(Side::kClient, clients_, answer_.nonce).value();
  }
  LaneProof here() const { return {session_, token_, 2, 1}; }
  Code judged(const LaneProof& lane) const {
    return lane.check(Side::kClient, clients_, answer_.nonce, proof_).code();
  }

  Session session_{.level = Level::kAuth, .cipher = Cipher::kAes128Gcm, .secret = {}};
  std::array<std::uint8_t, 16> token_{1, 2, 3};
  Nonce clients_{};
  WorkersAnswer answer_;
  Proof proof_{};
};

TEST_F(LaneProofTest, BothEndsAreConvinced) {
  EXPECT_TRUE(here().check(Side::kWorker, clients_, answer_.nonce, answer_.proof).is_ok());
  EXPECT_TRUE(here().check(Side::kClient, clients_, answer_.nonce, proof_).is_ok());
}

TEST_F(LaneProofTest, EveryBitCounts) {
  for (std::size_t bit = 0; bit < proof_.size() * 8; ++bit) {
    Proof changed = proof_;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1u << bit % 8);
    EXPECT_EQ(here().check(Side::kClient, clients_, answer_.nonce, changed).code(), Code::kPermission);
  }
}

TEST_F(LaneProofTest, ItFitsOneLaneOfOneSession) {
  EXPECT_EQ(judged(LaneProof(session_, token_, 2, 0)), Code::kPermission);
  EXPECT_EQ(judged(LaneProof(session_, token_, 3, 1)), Code::kPermission);
  std::array<std::uint8_t, 16> other = token_;
  other[15] = 1;
  EXPECT_EQ(judged(LaneProof(session_, other, 2, 1)), Code::kPermission);
  Session others = session_;
  others.secret.data()[31] = 1;
  EXPECT_EQ(judged(LaneProof(others, token_, 2, 1)), Code::kPermission);
}

// Neither a proof of before nor the peer's own.
TEST_F(LaneProofTest, NothingThatWasHeardFits) {
  const Nonce fresh = LaneProof::make_nonce().value();
  EXPECT_NE(fresh, clients_);
  EXPECT_EQ(here().check(Side::kClient, clients_, fresh, proof_).code(), Code::kPermission);
  EXPECT_EQ(here().check(Side::kWorker, fresh, answer_.nonce, answer_.proof).code(), Code::kPermission);
  EXPECT_EQ(here().check(Side::kClient, clients_, answer_.nonce, answer_.proof).code(), Code::kPermission);
  EXPECT_EQ(here().check(Side::kWorker, clients_, answer_.nonce, proof_).code(), Code::kPermission);
}

}  // namespace
}  // namespace tf::secure
