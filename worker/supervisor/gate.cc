// SPDX-License-Identifier: Apache-2.0
// Judges clients by their keys.
#include "worker/supervisor/gate.h"

#include <fmt/format.h>

#include <set>
#include <span>
#include <utility>

#include "transport/net/socket.h"
#include "transport/secure/key_file.h"

namespace tf::worker {
namespace {

Status check_limits(std::span<const std::string> words, bool no_devices) {
  const Result<Limits> limits = Limits::parse(words);
  if (limits && no_devices && !limits.value().devices().empty())
    return invalid_argument("devices=: hip-worker --device says which devices there are");
  return limits.status();
}

}  // namespace

Result<std::unique_ptr<Gate>> Gate::open(const KeyOptions& options) {
  const Result<secure::SecretKey> key = secure::read_key_file(options.key_file);
  if (key.code() == Code::kUnavailable)
    return Status(key.code(), key.status().message() + ". To make the worker's key: hip-remote keygen " +
                                  options.key_file);
  if (!key) return key.status();
  std::unique_ptr<Gate> gate(new Gate(options));
  Result<std::shared_ptr<const secure::Identity>> identity =
      secure::Identity::make(key.value(), secure::Side::kWorker);
  if (!identity) return identity.status();
  gate->identity_ = std::move(*identity);
  TF_RETURN_IF_ERROR(gate->reload());
  return gate;
}

Status Gate::reload() {
  Result<secure::AuthorizedKeys> keys = secure::AuthorizedKeys::read(
      options_.authorized_keys,
      [this](std::span<const std::string> words) { return check_limits(words, options_.no_devices); });
  if (!keys) return keys.status();
  keys_ = std::move(*keys);
  return Status::ok();
}

Result<Limits> Gate::limits_of(const secure::PublicKey& key) const {
  const Result<secure::Tenant> tenant = keys_.find(key);
  return tenant ? Limits::parse(tenant.value().options) : Result<Limits>(tenant.status());
}

std::vector<DeviceSet> Gate::device_sets() const {
  std::set<DeviceSet> sets;
  keys_.for_each([&sets](const secure::Tenant& tenant) {
    const Result<Limits> limits = Limits::parse(tenant.options);  // checked when the file was read
    if (limits && !limits.value().devices().empty()) sets.insert(limits.value().devices());
  });
  return {sets.begin(), sets.end()};
}

Result<std::unique_ptr<Prover>> Gate::meet(int socket) {
  // The prover owns the handshake, so it outlives these calls.
  auto of = std::make_shared<ControlProver*>(nullptr);
  const std::string peer = net::peer_text(socket);
  Result<std::unique_ptr<secure::Handshake>> handshake = secure::Handshake::worker(
      identity_, [this, of, peer](const secure::PublicKey& key, secure::Level wanted) {
        return judge(key, wanted, **of, peer);
      });
  if (!handshake) return handshake.status();
  auto prover = std::make_unique<ControlProver>(std::move(*handshake));
  *of = prover.get();
  return std::unique_ptr<Prover>(std::move(prover));
}

// The message goes to the client, which has proven its key, and to the log.
Result<secure::Level> Gate::judge(const secure::PublicKey& key, secure::Level wanted, ControlProver& prover,
                                  const std::string& peer) const {
  const std::string print = secure::fingerprint(key);
  const Result<secure::Tenant> tenant = keys_.find(key);
  if (!tenant)
    return Status(Code::kPermission, fmt::format("{} ({}, from {})", tenant.status().message(), print, peer));
  if (wanted < options_.security)
    return Status(
        Code::kPermission,
        fmt::format("this worker takes only sessions of the level {} (TF_SECURITY={} of {}, from {})",
                    name(options_.security), name(wanted), tenant.value().name, peer));
  prover.call(tenant.value().name, fmt::format("{}, {}, from {}", tenant.value().name, print, peer));
  return wanted;
}

}  // namespace tf::worker
