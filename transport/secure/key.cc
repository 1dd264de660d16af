// SPDX-License-Identifier: Apache-2.0
// Makes, reads and writes Ed25519 keys.
#include "transport/secure/key.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "transport/secure/base64.h"
#include "transport/secure/openssl.h"

namespace tf::secure {
namespace {

constexpr std::string_view kBegin = "-----BEGIN PRIVATE KEY-----";
constexpr std::string_view kEnd = "-----END PRIVATE KEY-----";
// What stands before the 32 bytes of every Ed25519 key in PKCS #8 (RFC 8410, section 7).
constexpr std::array<std::uint8_t, 16> kPrefix = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                                  0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};

Status not_a_key(const std::string& why) {
  return {Code::kInvalidArgument,
          "this is no Ed25519 key (" + why + "); hip-remote keygen makes one, and so does openssl genpkey"};
}

bool is_space(char character) { return character == '\n' || character == '\r' || character == ' '; }

void wipe(std::string& text) { ::explicit_bzero(text.data(), text.size()); }

}  // namespace

std::string PublicKey::to_text() const { return std::string(kKeyType) + " " + to_base64(bytes); }

std::optional<PublicKey> parse_public_key(std::string_view base64) {
  const std::optional<std::vector<std::uint8_t>> bytes = from_base64(base64);
  PublicKey key;
  if (!bytes || bytes->size() != key.bytes.size()) return std::nullopt;
  std::ranges::copy(*bytes, key.bytes.begin());
  return key;
}

std::string fingerprint(const PublicKey& key) {
  const OpenSsl& ssl = loaded_openssl();
  std::array<std::uint8_t, 32> digest{};
  std::size_t bytes = digest.size();
  if (ssl.EVP_Q_digest(ssl.context, "SHA256", nullptr, key.bytes.data(), key.bytes.size(), digest.data(),
                       &bytes) != 1)
    return "SHA256:?";
  return "SHA256:" + to_base64(digest, false);
}

Result<SecretKey> generate_key() {
  SecretKey key;
  std::size_t have = 0;
  while (have < SecretKey::size()) {
    const ssize_t got = ::getrandom(key.data() + have, SecretKey::size() - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno("getrandom", errno);
    have += static_cast<std::size_t>(got);
  }
  return key;
}

Result<PublicKey> public_key_of(const SecretKey& key) {
  const Result<const OpenSsl*> loaded = openssl();
  if (!loaded) return loaded.status();
  const OpenSsl& ssl = *loaded.value();
  const Owned<EVP_PKEY> pair(
      ssl.EVP_PKEY_new_raw_private_key_ex(ssl.context, "ED25519", nullptr, key.data(), SecretKey::size()));
  PublicKey result;
  std::size_t bytes = result.bytes.size();
  if (pair == nullptr || ssl.EVP_PKEY_get_raw_public_key(pair.get(), result.bytes.data(), &bytes) != 1 ||
      bytes != result.bytes.size())
    return openssl_failure(ssl, "an Ed25519 key");
  return result;
}

Result<SecretKey> parse_secret_key(std::string_view pem) {
  if (pem.size() > kKeyTextBytesMax) return not_a_key("it is too long");
  if (pem.find("BEGIN ENCRYPTED") != std::string_view::npos)
    return not_a_key("it has a passphrase, which is not supported");
  if (pem.find("BEGIN OPENSSH") != std::string_view::npos) return not_a_key("it is one of ssh's");
  const std::size_t begin = pem.find(kBegin);
  const std::size_t end = pem.find(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + kBegin.size())
    return not_a_key("it is not PEM");
  std::string digits;
  digits.reserve(pem.size());  // so that no copy of it is left behind
  for (const char digit : pem.substr(begin + kBegin.size(), end - begin - kBegin.size()))
    if (!is_space(digit)) digits += digit;
  std::optional<std::vector<std::uint8_t>> der = from_base64(digits);
  wipe(digits);
  if (!der) return not_a_key("it is not base64");
  if (der->empty()) return not_a_key("there is nothing between its first and last line");
  SecretKey key;
  const bool right = der->size() == kPrefix.size() + SecretKey::size() &&
                     std::ranges::equal(std::span(*der).first(kPrefix.size()), kPrefix);
  if (right) std::copy_n(der->begin() + kPrefix.size(), SecretKey::size(), key.data());
  ::explicit_bzero(der->data(), der->size());
  if (!right) return not_a_key("it is a key of another kind");
  return key;
}

std::string to_pem(const SecretKey& key) {
  std::array<std::uint8_t, kPrefix.size() + SecretKey::size()> der{};
  std::ranges::copy(kPrefix, der.begin());
  std::ranges::copy(key.bytes(), der.begin() + kPrefix.size());
  std::string digits = to_base64(der);
  ::explicit_bzero(der.data(), der.size());
  std::string pem;
  pem.reserve(kBegin.size() + kEnd.size() + digits.size() + 3);
  pem.append(kBegin).append("\n").append(digits).append("\n").append(kEnd).append("\n");
  wipe(digits);
  return pem;
}

}  // namespace tf::secure
