// SPDX-License-Identifier: Apache-2.0
// Derives keys.
#include "transport/secure/session.h"

#include <string>

#include "transport/secure/openssl.h"

namespace tf::secure {
namespace {

constexpr std::uint8_t bit(Cipher cipher) { return static_cast<std::uint8_t>(cipher); }

std::string_view who(Side sender) { return sender == Side::kClient ? "client" : "worker"; }

}  // namespace

std::uint8_t possible_ciphers() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("pclmul") != 0)
    return bit(Cipher::kAes128Gcm) | bit(Cipher::kChaCha20Poly1305);
#endif
  return bit(Cipher::kChaCha20Poly1305);
}

Cipher choose_cipher(std::uint8_t mine, std::uint8_t theirs) {
  return (mine & theirs & bit(Cipher::kAes128Gcm)) != 0 ? Cipher::kAes128Gcm : Cipher::kChaCha20Poly1305;
}

std::string_view name(Cipher cipher) {
  return cipher == Cipher::kAes128Gcm ? "AES-128-GCM" : "ChaCha20-Poly1305";
}

Status load_library() { return openssl().status(); }

// One block of HKDF-Expand is one HMAC: of the info and the number 1.
Result<Secret32> expand(const Secret32& secret, std::string_view info) {
  const OpenSsl& ssl = loaded_openssl();
  const std::string block = std::string(info) + '\x01';
  Secret32 result;
  std::size_t bytes = Secret32::size();
  if (ssl.EVP_Q_mac(ssl.context, "HMAC", nullptr, "SHA256", nullptr, secret.data(), Secret32::size(),
                    reinterpret_cast<const unsigned char*>(block.data()), block.size(), result.data(),
                    Secret32::size(), &bytes) == nullptr ||
      bytes != Secret32::size())
    return openssl_failure(ssl, "HMAC");
  return result;
}

Result<Secret32> control_secret(const Session& session, Side sender) {
  return expand(session.secret, "hip-remote control " + std::string(who(sender)));
}

Result<Secret32> lane_secret(const Session& session, std::uint32_t transport, std::uint32_t lane, Side sender,
                             const Proof& proof) {
  std::string info = "hip-remote lane " + std::to_string(transport) + " " + std::to_string(lane) + " " +
                     std::string(who(sender)) + " ";
  info.append(reinterpret_cast<const char*>(proof.data()), proof.size());
  return expand(session.secret, info);
}

Result<Secret32> lane_proof_secret(const Session& session) {
  return expand(session.secret, "hip-remote lane proof");
}

}  // namespace tf::secure
