// SPDX-License-Identifier: Apache-2.0
// Session: what both sides hold after the handshake, and the keys that follow from it.
//
// Everything comes from one secret, TLS's exporter (RFC 8446, section 7.5), by HKDF-Expand with SHA-256
// (RFC 5869). Its info says what the key is for: the purpose, the transport, the lane, the direction. So no
// two of them are alike, and none tells anything about another.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "transport/base/status.h"
#include "transport/secure/level.h"
#include "transport/secure/secret.h"

namespace tf::secure {

enum class Cipher : std::uint8_t { kAes128Gcm = 1, kChaCha20Poly1305 = 2 };

// Bits of the ciphers that are fast here: AES only if the processor has instructions for it.
std::uint8_t possible_ciphers();
// The best of those that both sides have.
Cipher choose_cipher(std::uint8_t mine, std::uint8_t theirs);
std::string_view name(Cipher cipher);

enum class Side : std::uint8_t { kClient = 1, kWorker = 2 };
constexpr Side other(Side side) { return side == Side::kClient ? Side::kWorker : Side::kClient; }

using Proof = std::array<std::uint8_t, 32>;

struct Session {
  Level level = Level::kNone;
  Cipher cipher = Cipher::kAes128Gcm;
  Secret32 secret;
};

// Loads OpenSSL (openssl.h), for who has a session and no key. kUnavailable: why there is none.
Status load_library();

// HKDF-Expand, 32 bytes. REQUIRES: OpenSSL is loaded, as for all of these.
Result<Secret32> expand(const Secret32& secret, std::string_view info);

// What protects the bytes that `sender` sends on the control connection, or on lane `lane` of a transport.
Result<Secret32> control_secret(const Session& session, Side sender);
// `proof`: what the client proved the lane with (lane_proof.h). Random numbers of both sides are in it, so a
// lane that is opened again has other keys, and no number of a record is ever used twice with one.
Result<Secret32> lane_secret(const Session& session, std::uint32_t transport, std::uint32_t lane, Side sender,
                             const Proof& proof);
// What proves that a lane belongs to the session.
Result<Secret32> lane_proof_secret(const Session& session);

}  // namespace tf::secure
