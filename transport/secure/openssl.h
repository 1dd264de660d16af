// SPDX-License-Identifier: Apache-2.0
// OpenSSL's functions, from its library on this machine. Nothing links it: programs into which the client is
// loaded have an OpenSSL of their own, of any version, or none.
//
// Loaded once, when the first key is used, and never unloaded. RTLD_LOCAL, so that the program does not see
// it. If the program exports OpenSSL's functions itself (one linked into it), RTLD_DEEPBIND as well, so that
// the library does not see the program's. All that is made here belongs to a context of ours
// (OSSL_LIB_CTX): neither the program's settings nor openssl.cnf change it. Any thread.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "transport/base/status.h"

namespace tf::secure {

struct OpenSsl {
#define TF_OPENSSL_FUNCTION(name) decltype(&::name) name = nullptr;
#include "transport/secure/openssl_functions.inc"
#undef TF_OPENSSL_FUNCTION

  OSSL_LIB_CTX* context = nullptr;  // ours
};

// kUnavailable: why there is none, and what to install.
Result<const OpenSsl*> openssl();
// For where it is known to be there: after a successful call of openssl().
const OpenSsl& loaded_openssl();

// `what`, with the oldest error that OpenSSL has for this thread. Clears its errors.
Status openssl_failure(const OpenSsl& ssl, const std::string& what);

// Owners of OpenSSL's objects.
struct Free {
  void operator()(EVP_PKEY* key) const { loaded_openssl().EVP_PKEY_free(key); }
  void operator()(EVP_CIPHER* cipher) const { loaded_openssl().EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const { loaded_openssl().EVP_CIPHER_CTX_free(context); }
  void operator()(X509* certificate) const { loaded_openssl().X509_free(certificate); }
  void operator()(SSL_CTX* context) const { loaded_openssl().SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { loaded_openssl().SSL_free(ssl); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

}  // namespace tf::secure
