// SPDX-License-Identifier: Apache-2.0
// Makes a key's certificate, and sets TLS up: 1.3 only, Ed25519 only, X25519 only, nothing resumed.
#include "transport/secure/identity.h"

#include <array>
#include <string>
#include <utility>

#include "transport/secure/tls.h"

namespace tf::secure {
namespace {

constexpr long kSerial = 1;
constexpr long kCertificateBytesMax = 4096;  // of the peer's, with whatever it sends along

Result<Owned<EVP_PKEY>> make_pair(const OpenSsl& ssl, const SecretKey& key) {
  Owned<EVP_PKEY> pair(
      ssl.EVP_PKEY_new_raw_private_key_ex(ssl.context, "ED25519", nullptr, key.data(), SecretKey::size()));
  if (pair == nullptr) return openssl_failure(ssl, "an Ed25519 key");
  return pair;
}

// The same for the same key, except that it says nothing: no time, no name.
Result<Owned<X509>> make_certificate(const OpenSsl& ssl, EVP_PKEY* pair) {
  Owned<X509> certificate(ssl.X509_new_ex(ssl.context, nullptr));
  if (certificate == nullptr) return openssl_failure(ssl, "a certificate");
  X509* const x509 = certificate.get();
  X509_NAME* const name = ssl.X509_get_subject_name(x509);
  const auto* const text = reinterpret_cast<const unsigned char*>("hip-remote");
  const bool made = ssl.X509_set_version(x509, 2) == 1 &&  // 3, as they count
                    ssl.ASN1_INTEGER_set(ssl.X509_get_serialNumber(x509), kSerial) == 1 &&
                    ssl.ASN1_TIME_set_string(ssl.X509_getm_notBefore(x509), "20200101000000Z") == 1 &&
                    ssl.ASN1_TIME_set_string(ssl.X509_getm_notAfter(x509), "99991231235959Z") == 1 &&
                    ssl.X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
                    ssl.X509_set_issuer_name(x509, name) == 1 && ssl.X509_set_pubkey(x509, pair) == 1 &&
                    ssl.X509_sign(x509, pair, nullptr) > 0;
  if (!made) return openssl_failure(ssl, "a certificate");
  return certificate;
}

// In place of OpenSSL's check of a chain up to an authority. 1: go on.
int verify(X509_STORE_CTX* store, void*) {
  const OpenSsl& ssl = loaded_openssl();
  auto* const connection =
      static_cast<SSL*>(ssl.X509_STORE_CTX_get_ex_data(store, ssl.SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const judge = static_cast<PeerJudge*>(ssl.SSL_get_ex_data(connection, 0));
  X509* const certificate = ssl.X509_STORE_CTX_get0_cert(store);
  EVP_PKEY* const pair = certificate != nullptr ? ssl.X509_get0_pubkey(certificate) : nullptr;
  PublicKey key;
  std::size_t bytes = key.bytes.size();
  const bool is_key = pair != nullptr && ssl.EVP_PKEY_is_a(pair, "ED25519") == 1 &&
                      ssl.EVP_PKEY_get_raw_public_key(pair, key.bytes.data(), &bytes) == 1 &&
                      bytes == key.bytes.size();
  if (is_key && judge->accepts(key)) return 1;
  ssl.X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

int select_protocol(SSL*, const unsigned char** chosen, unsigned char* bytes, const unsigned char* offered,
                    unsigned int offered_bytes, void*) {
  const std::string_view all(reinterpret_cast<const char*>(offered), offered_bytes);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t length = static_cast<unsigned char>(all[at]);
    if (all.substr(at, 1 + length) == kAlpn) {
      *chosen = offered + at + 1;
      *bytes = static_cast<unsigned char>(length);
      return SSL_TLSEXT_ERR_OK;
    }
    at += 1 + length;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool set_up(const OpenSsl& ssl, SSL_CTX* context, Side side) {
  const auto control = [&](int command, long number, const char* text) {
    // OpenSSL does not write through it.
    return ssl.SSL_CTX_ctrl(context, command, number, const_cast<char*>(text)) > 0;
  };
  ssl.SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  ssl.SSL_CTX_clear_options(context, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  ssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
  ssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, kCertificateBytesMax, nullptr);
  ssl.SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  ssl.SSL_CTX_set_cert_verify_callback(context, &verify, nullptr);
  const auto* const protocol = reinterpret_cast<const unsigned char*>(kAlpn.data());
  if (side == Side::kWorker)
    ssl.SSL_CTX_set_alpn_select_cb(context, &select_protocol, nullptr);
  else if (ssl.SSL_CTX_set_alpn_protos(context, protocol, static_cast<unsigned>(kAlpn.size())) != 0)
    return false;
  return control(SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, nullptr) &&
         control(SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION, nullptr) &&
         control(SSL_CTRL_SET_GROUPS_LIST, 0, "X25519") && control(SSL_CTRL_SET_SIGALGS_LIST, 0, "ed25519") &&
         control(SSL_CTRL_SET_CLIENT_SIGALGS_LIST, 0, "ed25519") &&
         ssl.SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1 &&
         ssl.SSL_CTX_set_num_tickets(context, 0) == 1;
}

}  // namespace

Result<std::shared_ptr<const Identity>> Identity::make(const SecretKey& key, Side side) {
  const Result<PublicKey> own = public_key_of(key);  // loads OpenSSL
  if (!own) return own.status();
  const OpenSsl& ssl = loaded_openssl();
  Result<Owned<EVP_PKEY>> pair = make_pair(ssl, key);
  if (!pair) return pair.status();
  Result<Owned<X509>> certificate = make_certificate(ssl, pair->get());
  if (!certificate) return certificate.status();
  auto tls = std::make_unique<TlsContext>();
  tls->context.reset(ssl.SSL_CTX_new_ex(ssl.context, nullptr, ssl.TLS_method()));
  SSL_CTX* const context = tls->context.get();
  if (context == nullptr || !set_up(ssl, context, side) ||
      ssl.SSL_CTX_use_certificate(context, certificate->get()) != 1 ||
      ssl.SSL_CTX_use_PrivateKey(context, pair->get()) != 1)
    return openssl_failure(ssl, "TLS 1.3 cannot be set up");
  return std::shared_ptr<const Identity>(new Identity(own.value(), side, std::move(tls)));
}

Identity::Identity(PublicKey key, Side side, std::unique_ptr<TlsContext> tls)
    : key_(key), side_(side), tls_(std::move(tls)) {}
Identity::~Identity() = default;

}  // namespace tf::secure
