// SPDX-License-Identifier: Apache-2.0
// Identity: a key with which one side of the handshake can prove itself, ready for TLS.
//
// TLS wants certificates, so each key gets one, signed by itself. Nobody reads it: only the key in it counts,
// and that its owner proves to have it.
#pragma once

#include <memory>

#include "transport/base/status.h"
#include "transport/secure/key.h"
#include "transport/secure/session.h"

namespace tf::secure {

struct TlsContext;  // of OpenSSL

// Never changes. One thread at a time.
class Identity {
 public:
  // Loads OpenSSL. `side`: the one that proves itself with this key.
  static Result<std::shared_ptr<const Identity>> make(const SecretKey& key, Side side);
  ~Identity();
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  const PublicKey& key() const { return key_; }
  Side side() const { return side_; }
  const TlsContext& tls() const { return *tls_; }

 private:
  Identity(PublicKey key, Side side, std::unique_ptr<TlsContext> tls);

  const PublicKey key_;
  const Side side_;
  const std::unique_ptr<TlsContext> tls_;
};

}  // namespace tf::secure
