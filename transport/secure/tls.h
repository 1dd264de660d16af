// SPDX-License-Identifier: Apache-2.0
// What identity.cc prepares and handshake.cc uses of OpenSSL. Included by these two.
#pragma once

#include <string_view>

#include "transport/secure/key.h"
#include "transport/secure/openssl.h"

namespace tf::secure {

struct TlsContext {
  Owned<SSL_CTX> context;
};

// The application's protocol, as TLS negotiates it (ALPN): its length, and its name.
inline constexpr std::string_view kAlpn = "\x0chip-remote/1";

// Who is asked whether the peer's key is acceptable: an SSL's extra data 0 points to one.
class PeerJudge {
 public:
  virtual bool accepts(const PublicKey& key) = 0;

 protected:
  ~PeerJudge() = default;
};

}  // namespace tf::secure
