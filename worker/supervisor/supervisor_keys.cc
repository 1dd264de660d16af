// SPDX-License-Identifier: Apache-2.0
// Clients that have to prove who they are: what a connection must show, and what happens to sessions whose
// keys are no longer welcome.
#include <signal.h>

#include <utility>

#include "worker/base/log.h"
#include "worker/supervisor/supervisor.h"

namespace tf::worker {

// What is said here is heard by strangers, so it tells nothing about the worker but how it wants to be met.
Result<std::unique_ptr<Prover>> Supervisor::meet(Intake::Connection& connection) {
  const bool wants = connection.attach.security != secure::Level::kNone;
  const bool is_control = connection.attach.token.is_zero();
  if (connection.keyed && is_control && wants) return gate_->meet(connection.socket.get());
  if (connection.keyed && !is_control) return meet_lane(connection);
  if (connection.keyed == wants) return std::unique_ptr<Prover>();
  const std::string why =
      wants ? "this worker has no keys (hip-worker --key-file, --authorized-keys); to use it without, unset "
              "TF_KEY_FILE and TF_SECURITY"
            : "this worker wants a key: make one (hip-remote keygen), have its public line added to the "
              "worker's --authorized-keys, and set TF_KEY_FILE";
  if (is_control) refuse(connection, Code::kPermission, why);
  return Status(Code::kPermission,
                wants ? "it wants keys, which this worker does not have" : "it has no key");
}

// The session that expects a lane with this token.
Supervisor::Child* Supervisor::find_lanes_session(const net::Token& token) {
  auto found = tokens_.find(token);
  if (found == tokens_.end()) {
    // The session may have announced the token after this round's look at its channel.
    for (auto& [pid, child] : children_) read_channel(pid, child);
    found = tokens_.find(token);
  }
  return found == tokens_.end() ? nullptr : &children_.at(found->second);
}

Result<std::unique_ptr<Prover>> Supervisor::meet_lane(const Intake::Connection& connection) {
  const Child* const child = find_lanes_session(connection.attach.token);
  if (child == nullptr) return Status(Code::kPermission, "no session expects the token of this lane");
  if (!child->client || child->client->session->level != connection.attach.security)
    return Status(Code::kPermission, "a lane of another level than its session");
  const net::Lanes lanes(connection.attach.token, child->client->session);
  return std::unique_ptr<Prover>(std::make_unique<LaneProver>(lanes, connection.attach));
}

// Between its proof and a free session process its key may have been revoked.
bool Supervisor::still_welcome(Intake::Connection& connection) {
  if (!connection.client) return true;
  const Status judged = gate_->judge(connection.client->key);
  if (judged) return true;
  refuse(connection, Code::kPermission, judged.message());
  return false;
}

void Supervisor::reload_keys() {
  if (announced_) service_.reloading();
  const Status reloaded = gate_->reload();
  if (announced_)
    service_.ready(reloaded ? fmt::format("{} keys may come in", gate_->size()) : reloaded.message());
  if (!reloaded)
    return log(LogLevel::kWarning, "the authorized keys stay as they were: {}", reloaded.message());
  if (!options_.quiet) log("the authorized keys were read again: {} keys may come in", gate_->size());
  keep_spares();
  end_the_unwelcome();
}

void Supervisor::end_the_unwelcome() {
  keys_due_ = Deadline::after(kKeysPeriod);
  for (auto& [pid, child] : children_) {
    if (!child.client || child.state == State::kDoomed) continue;
    const Status judged = gate_->judge(child.client->key);
    if (judged) continue;
    log(LogLevel::kWarning, "session {} ({}) is ended: {}", child.session_id, child.client->whom,
        judged.message());
    child.end_reason = judged.message();
    child.offered.reset();
    child.client.reset();  // so that this is said once
    ::kill(pid, SIGKILL);
  }
}

}  // namespace tf::worker
