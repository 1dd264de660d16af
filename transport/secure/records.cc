// SPDX-License-Identifier: Apache-2.0
// Seals and opens records, by OpenSSL's EVP.
#include "transport/secure/records.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "transport/secure/openssl.h"

namespace tf::secure {

namespace {

constexpr std::size_t kNonceBytes = 12;
using RecordNonce = std::array<unsigned char, kNonceBytes>;

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* raw(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

Status damaged() {
  return {Code::kProtocol, "a record was changed, lost, repeated or moved on its way: its tag is wrong"};
}

}  // namespace

class RecordKey {
 public:
  RecordKey(const Secret32& secret, std::uint64_t per_key)
      : secret_(secret), per_key_(per_key), key_end_(per_key) {}

  Status open(Cipher cipher, bool seals) {
    ssl_ = &loaded_openssl();
    seals_ = seals;
    const bool is_aes = cipher == Cipher::kAes128Gcm;
    cipher_.reset(
        ssl_->EVP_CIPHER_fetch(ssl_->context, is_aes ? "AES-128-GCM" : "ChaCha20-Poly1305", nullptr));
    context_.reset(ssl_->EVP_CIPHER_CTX_new());
    if (cipher_ == nullptr || context_ == nullptr) return openssl_failure(*ssl_, "no AEAD cipher");
    return load();
  }

  // The nonce of record `number`, once the context has the key of that record.
  Status use(std::uint64_t number, RecordNonce& nonce) {
    for (; number >= key_end_; key_end_ += per_key_) {
      const Result<Secret32> following = expand(secret_, "next");
      if (!following) return following.status();
      secret_ = following.value();
      TF_RETURN_IF_ERROR(load());
    }
    std::copy(iv_.bytes().begin(), iv_.bytes().begin() + kNonceBytes, nonce.begin());
    for (std::size_t index = 0; index < sizeof number; ++index)
      nonce[kNonceBytes - 1 - index] ^= static_cast<unsigned char>(number >> (8 * index));
    return Status::ok();
  }

  const OpenSsl& ssl() const { return *ssl_; }
  EVP_CIPHER_CTX* context() const { return context_.get(); }

 private:
  Status load() {
    const Result<Secret32> key = expand(secret_, "key");
    if (!key) return key.status();
    const Result<Secret32> iv = expand(secret_, "iv");
    if (!iv) return iv.status();
    iv_ = iv.value();
    // Of the key's 32 bytes the cipher reads as many as it needs.
    const auto init = seals_ ? ssl_->EVP_EncryptInit_ex2 : ssl_->EVP_DecryptInit_ex2;
    if (init(context_.get(), cipher_.get(), key.value().data(), iv_.data(), nullptr) != 1)
      return openssl_failure(*ssl_, "a key of an AEAD cipher");
    return Status::ok();
  }

  Secret32 secret_;
  const std::uint64_t per_key_;
  std::uint64_t key_end_;  // the first record that has the next key
  const OpenSsl* ssl_ = nullptr;
  bool seals_ = false;
  Owned<EVP_CIPHER> cipher_;
  Owned<EVP_CIPHER_CTX> context_;
  Secret32 iv_;
};

namespace {

Result<std::unique_ptr<RecordKey>> make_key(const Secret32& secret, Cipher cipher, std::uint64_t per_key,
                                            bool seals) {
  auto key = std::make_unique<RecordKey>(secret, per_key);
  if (Status status = key->open(cipher, seals); !status.is_ok()) return status;
  return key;
}

}  // namespace

Sealer::Sealer(std::unique_ptr<RecordKey> key) : key_(std::move(key)) {}
Sealer::Sealer(Sealer&&) noexcept = default;
Sealer& Sealer::operator=(Sealer&&) noexcept = default;
Sealer::~Sealer() = default;

Result<Sealer> Sealer::make(const Secret32& secret, Cipher cipher, std::uint64_t per_key) {
  Result<std::unique_ptr<RecordKey>> key = make_key(secret, cipher, per_key, true);
  if (!key) return key.status();
  return Sealer(std::move(*key));
}

Status Sealer::work(std::uint64_t number, std::span<const std::byte> plain, std::span<std::byte> record) {
  const auto length = static_cast<std::uint32_t>(plain.size());
  const std::uint32_t header[2] = {length, ~length};
  static_assert(sizeof header == kRecordHeaderBytes);
  std::memcpy(record.data(), header, sizeof header);
  RecordNonce nonce;
  TF_RETURN_IF_ERROR(key_->use(number, nonce));
  const OpenSsl& ssl = key_->ssl();
  EVP_CIPHER_CTX* const context = key_->context();
  unsigned char* const text = raw(record.data() + kRecordHeaderBytes);
  unsigned char* const tag = text + plain.size();
  int wrote = 0;
  int rest = 0;
  if (ssl.EVP_EncryptInit_ex2(context, nullptr, nullptr, nonce.data(), nullptr) == 1 &&
      ssl.EVP_EncryptUpdate(context, nullptr, &wrote, raw(record.data()), kRecordHeaderBytes) == 1 &&
      ssl.EVP_EncryptUpdate(context, text, &wrote, raw(plain.data()), static_cast<int>(plain.size())) == 1 &&
      ssl.EVP_EncryptFinal_ex(context, text + wrote, &rest) == 1 &&
      ssl.EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kRecordTagBytes, tag) == 1)
    return Status::ok();
  return openssl_failure(ssl, "a record cannot be encrypted");
}

Opener::Opener(std::unique_ptr<RecordKey> key) : key_(std::move(key)) {}
Opener::Opener(Opener&&) noexcept = default;
Opener& Opener::operator=(Opener&&) noexcept = default;
Opener::~Opener() = default;

Result<Opener> Opener::make(const Secret32& secret, Cipher cipher, std::uint64_t per_key) {
  Result<std::unique_ptr<RecordKey>> key = make_key(secret, cipher, per_key, false);
  if (!key) return key.status();
  return Opener(std::move(*key));
}

Result<std::size_t> Opener::plain_bytes(std::span<const std::byte, kRecordHeaderBytes> header) {
  std::uint32_t lengths[2];
  std::memcpy(lengths, header.data(), sizeof lengths);
  if (lengths[1] != ~lengths[0])
    return Status(Code::kProtocol, "a record was changed on its way: its length is damaged");
  if (lengths[0] >= 1 && lengths[0] <= kRecordBytesMax) return std::size_t{lengths[0]};
  return Status(Code::kProtocol, "a record of " + std::to_string(lengths[0]) + " bytes is not possible");
}

Status Opener::work(std::uint64_t number, std::span<const std::byte> record, std::span<std::byte> plain) {
  RecordNonce nonce;
  TF_RETURN_IF_ERROR(key_->use(number, nonce));
  const OpenSsl& ssl = key_->ssl();
  EVP_CIPHER_CTX* const context = key_->context();
  const unsigned char* const text = raw(record.data() + kRecordHeaderBytes);
  std::array<unsigned char, kRecordTagBytes> tag;
  std::memcpy(tag.data(), text + plain.size(), tag.size());
  int wrote = 0;
  int rest = 0;
  if (ssl.EVP_DecryptInit_ex2(context, nullptr, nullptr, nonce.data(), nullptr) == 1 &&
      ssl.EVP_DecryptUpdate(context, nullptr, &wrote, raw(record.data()), kRecordHeaderBytes) == 1 &&
      ssl.EVP_DecryptUpdate(context, raw(plain.data()), &wrote, text, static_cast<int>(plain.size())) == 1 &&
      ssl.EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kRecordTagBytes, tag.data()) == 1 &&
      ssl.EVP_DecryptFinal_ex(context, raw(plain.data()) + wrote, &rest) == 1)
    return Status::ok();
  std::memset(plain.data(), 0, plain.size());
  ssl.ERR_clear_error();
  return damaged();
}

}  // namespace tf::secure
