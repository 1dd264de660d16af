// SPDX-License-Identifier: Apache-2.0
// Makes and checks the proofs of lanes.
#include "transport/secure/lane_proof.h"

#include <algorithm>
#include <string>

#include "transport/secure/key.h"

namespace tf::secure {
namespace {

template <typename Bytes>
void append(std::string& text, const Bytes& bytes) {
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void append_number(std::string& text, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(number >> shift & 0xff);
}

}  // namespace

LaneProof::LaneProof(const Session& session, std::span<const std::uint8_t, 16> token, std::uint32_t transport,
                     std::uint32_t lane)
    : session_(session), transport_(transport), lane_(lane) {
  std::ranges::copy(token, token_.begin());
}

Result<Nonce> LaneProof::make_nonce() {
  const Result<SecretKey> random = generate_key();  // 32 bytes of the same source
  if (!random) return random.status();
  Nonce nonce;
  std::ranges::copy(random.value().bytes(), nonce.begin());
  return nonce;
}

Result<WorkersAnswer> LaneProof::answer(const Nonce& clients) const {
  const Result<Nonce> nonce = make_nonce();
  if (!nonce) return nonce.status();
  const Result<Proof> proof = prove(Side::kWorker, clients, nonce.value());
  if (!proof) return proof.status();
  return WorkersAnswer{.nonce = nonce.value(), .proof = proof.value()};
}

// HKDF-Expand of one block is the HMAC of its info, so expand() serves.
Result<Proof> LaneProof::prove(Side prover, const Nonce& clients, const Nonce& workers) const {
  const Result<Secret32> key = lane_proof_secret(session_);
  if (!key) return key.status();
  std::string said = prover == Side::kClient ? "client" : "worker";
  append(said, clients);
  append(said, workers);
  append(said, token_);
  append_number(said, transport_);
  append_number(said, lane_);
  const Result<Secret32> made = expand(key.value(), said);
  if (!made) return made.status();
  Proof proof;
  std::ranges::copy(made.value().bytes(), proof.begin());
  return proof;
}

Status LaneProof::check(Side prover, const Nonce& clients, const Nonce& workers, const Proof& proof) const {
  const Result<Proof> right = prove(prover, clients, workers);
  if (!right) return right.status();
  if (same(right.value(), proof)) return Status::ok();
  return {Code::kPermission, "the proof of a lane is wrong: who opened it is not in the session"};
}

}  // namespace tf::secure
