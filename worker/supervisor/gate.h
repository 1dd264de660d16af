// SPDX-License-Identifier: Apache-2.0
// Gate: the worker's keys. Proves the worker to clients that come over TCP, and says which of them may come
// in, and as whom. Belongs to the supervisor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/base/status.h"
#include "transport/net/lanes.h"
#include "transport/secure/authorized_keys.h"
#include "transport/secure/identity.h"
#include "worker/base/limits.h"
#include "worker/base/options.h"
#include "worker/supervisor/prover.h"
#include "worker/supervisor/spares.h"

namespace tf::worker {

class Gate {
 public:
  // Reads both files, and loads OpenSSL.
  static Result<std::unique_ptr<Gate>> open(const KeyOptions& options);

  // Reads the authorized keys again. A failure changes nothing.
  Status reload();

  // For a fresh control connection whose attach frame wants a handshake.
  Result<std::unique_ptr<Prover>> meet(int socket);

  // What the file says of a key that may be used.
  Result<Limits> limits_of(const secure::PublicKey& key) const;
  // Those that keys are granted, each once; without those of keys that may use all.
  std::vector<DeviceSet> device_sets() const;
  // Ok, or why this key may not (any longer) be used.
  Status judge(const secure::PublicKey& key) const { return keys_.find(key).status(); }

  std::string fingerprint() const { return secure::fingerprint(identity_->key()); }
  std::size_t size() const { return keys_.size(); }

 private:
  explicit Gate(KeyOptions options) : options_(std::move(options)) {}
  Result<secure::Level> judge(const secure::PublicKey& key, secure::Level wanted, ControlProver& prover,
                              const std::string& peer) const;

  const KeyOptions options_;
  std::shared_ptr<const secure::Identity> identity_;
  secure::AuthorizedKeys keys_;
};

}  // namespace tf::worker
