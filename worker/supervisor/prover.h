// SPDX-License-Identifier: Apache-2.0
// Prover: what a fresh connection has to prove before anything else is read of it, where the worker has keys:
// a control connection the handshake, a lane that it belongs to its session. Belongs to the supervisor, so it
// never blocks; the intake limits the time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "transport/base/status.h"
#include "transport/net/lanes.h"
#include "transport/secure/handshake.h"
#include "transport/secure/key.h"
#include "transport/secure/lane_proof.h"
#include "transport/secure/session.h"

namespace tf::worker {

// Who has proven a key.
struct ProvenClient {
  secure::PublicKey key;
  std::string tenant;
  std::string whom;  // for the log: tenant, fingerprint, peer
  std::shared_ptr<const secure::Session> session;
};

class Prover {
 public:
  virtual ~Prover() = default;
  // Takes what has come, and answers. Ok: proven, and nothing behind it was read. kWouldBlock: more has to
  // come. Else the connection is over, and the message is for the log.
  virtual Status step(int socket) = 0;
  // Of a control connection that is proven.
  virtual std::optional<ProvenClient> client() const { return std::nullopt; }
  // Of a lane that is proven: what its keys follow from.
  virtual secure::Proof proof() const { return {}; }
};

// `tenant`, `whom`: who the client is, and what the log calls it, once its handshake knows its key.
class ControlProver : public Prover {
 public:
  explicit ControlProver(std::unique_ptr<secure::Handshake> handshake) : handshake_(std::move(handshake)) {}
  void call(std::string tenant, std::string whom) {
    tenant_ = std::move(tenant);
    whom_ = std::move(whom);
  }

  Status step(int socket) override;
  std::optional<ProvenClient> client() const override;

 private:
  Status answer(int socket);

  const std::unique_ptr<secure::Handshake> handshake_;
  std::string tenant_;
  std::string whom_;
};

class LaneProver : public Prover {
 public:
  LaneProver(const net::Lanes& lanes, const net::Attach& attach)
      : lane_(*lanes.session, lanes.token.bytes, static_cast<std::uint32_t>(attach.kind), attach.lane) {}

  Status step(int socket) override;
  secure::Proof proof() const override { return proof_; }

 private:
  const secure::LaneProof lane_;
  std::array<std::byte, 32> part_{};  // the client's nonce, then its proof
  std::size_t have_ = 0;
  secure::Nonce clients_{};
  std::optional<secure::WorkersAnswer> answer_;
  secure::Proof proof_{};  // the client's
};

}  // namespace tf::worker
