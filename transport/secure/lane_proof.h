// SPDX-License-Identifier: Apache-2.0
// How both ends of a lane prove that they belong to the session whose lane this is. After the attach frame:
//
//   client -> worker   32 bytes   a nonce
//   worker -> client   64 bytes   a nonce, and its proof
//   client -> worker   32 bytes   its proof
//
// A proof is HMAC-SHA256 with a key of the session over who proves, both nonces, token, transport and lane.
// So neither a proof of another lane or moment fits, nor the peer's own. Then the lane carries payload; if it
// is encrypted, its keys follow from the client's proof (lane_secret()).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transport/base/status.h"
#include "transport/secure/session.h"

namespace tf::secure {

using Nonce = std::array<std::uint8_t, 32>;

struct WorkersAnswer {
  Nonce nonce{};
  Proof proof{};
};

// One lane; the caller sends and receives.
class LaneProof {
 public:
  // `token`: the endpoint's.
  LaneProof(const Session& session, std::span<const std::uint8_t, 16> token, std::uint32_t transport,
            std::uint32_t lane);

  // From the kernel's random source.
  static Result<Nonce> make_nonce();

  Result<WorkersAnswer> answer(const Nonce& clients) const;  // a worker's
  Result<Proof> prove(Side prover, const Nonce& clients, const Nonce& workers) const;
  // kPermission: it is not.
  Status check(Side prover, const Nonce& clients, const Nonce& workers, const Proof& proof) const;

 private:
  Session session_;
  std::array<std::uint8_t, 16> token_{};
  std::uint32_t transport_;
  std::uint32_t lane_;
};

}  // namespace tf::secure
