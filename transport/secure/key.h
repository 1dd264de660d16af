// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys, and how people see them.
//
// A public key is one line, "ed25519 BASE64", and its fingerprint "SHA256:BASE64" of its 32 bytes. A secret
// key is a PEM file as `openssl genpkey -algorithm ed25519` writes it (PKCS #8, RFC 8410).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/base/status.h"
#include "transport/secure/secret.h"

namespace tf::secure {

inline constexpr std::string_view kKeyType = "ed25519";
inline constexpr std::size_t kKeyTextBytesMax = 4096;  // of a PEM file

struct PublicKey {
  std::array<std::uint8_t, 32> bytes{};
  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
  // "ed25519 BASE64".
  std::string to_text() const;
};

// The BASE64 alone. None: it is not 32 bytes.
std::optional<PublicKey> parse_public_key(std::string_view base64);

// "SHA256:BASE64". REQUIRES: OpenSSL is loaded (load_library() in session.h).
std::string fingerprint(const PublicKey& key);

// The seed from which everything else of the key follows.
using SecretKey = Secret32;

// From the kernel's random source.
Result<SecretKey> generate_key();
// Needs OpenSSL.
Result<PublicKey> public_key_of(const SecretKey& key);

// PEM. kInvalidArgument: what is wrong with it; the text is never part of the message.
Result<SecretKey> parse_secret_key(std::string_view pem);
// The caller wipes it.
std::string to_pem(const SecretKey& key);

}  // namespace tf::secure
