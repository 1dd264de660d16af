// SPDX-License-Identifier: Apache-2.0
// Handshake: client and worker prove their keys to each other, and agree on a Session.
//
// It is TLS 1.3 (identity.h says how it is set up), and inside it one message each way:
//
//   client -> worker   version u8, level u8, ciphers u8, 5 reserved      what it wants
//   worker -> client   version u8, code u8, level u8, cipher u8, u32 n   what it gets, and n bytes of why not
//
// The worker shows its key first. The client judges it before it says anything, its own key included. The
// worker judges the client's key when that is proven, and then tells a stranger why it may not come in. What
// both hold in the end is TLS's exporter, which covers all of that but the two messages; those are its
// context. Then TLS is over, and neither side has sent or received a byte beyond it.
//
// Bytes in, bytes out: the caller moves them, and limits the time. Not more than kHandshakeBytesMax come in.
// One thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "transport/base/status.h"
#include "transport/secure/identity.h"
#include "transport/secure/key.h"
#include "transport/secure/session.h"

namespace tf::secure {

inline constexpr std::size_t kHandshakeBytesMax = 16 << 10;
inline constexpr std::size_t kRefusalBytesMax = 1024;

// Client: whether this may be the worker's key. Not proven yet.
using JudgeWorker = std::function<Status(const PublicKey& key)>;
// Worker: which level this client gets, now that its key is proven. A failure's message is told to it.
using JudgeClient = std::function<Result<Level>(const PublicKey& key, Level wanted)>;

class Handshake {
 public:
  // REQUIRES: an identity of the right side.
  static Result<std::unique_ptr<Handshake>> client(std::shared_ptr<const Identity> own, Level wanted,
                                                   JudgeWorker judge);
  static Result<std::unique_ptr<Handshake>> worker(std::shared_ptr<const Identity> own, JudgeClient judge);
  virtual ~Handshake() = default;

  // What the peer has sent. Not ok: the handshake has failed, for good; to_send() may have what tells the
  // peer. Empty: begins (a client's first bytes).
  virtual Status take(std::span<const std::byte> bytes) = 0;
  // What the peer is to get, at any time. The caller removes what it has sent.
  virtual std::vector<std::byte>& to_send() = 0;
  // Ok, and nothing more will come: the session stands (once to_send() has gone).
  virtual bool done() const = 0;
  // REQUIRES: done().
  virtual const Session& session() const = 0;
  // The peer's key, as far as it is proven; else null.
  virtual const PublicKey* peer() const = 0;
};

}  // namespace tf::secure
