// SPDX-License-Identifier: Apache-2.0
// Proves this program to its worker, and the worker to it.
#include "proxy/session/keys.h"

#include <utility>

#include "hipcore/wire/hello.h"
#include "proxy/base/log.h"
#include "transport/net/attach.h"
#include "transport/net/prove.h"
#include "transport/net/records.h"
#include "transport/net/socket.h"
#include "transport/secure/handshake.h"
#include "transport/secure/identity.h"
#include "transport/secure/key_file.h"
#include "transport/secure/known_workers.h"

namespace tf::proxy {
namespace {

using Known = secure::KnownWorkers;

Result<std::shared_ptr<const secure::Identity>> read_identity(const KeyPlan& plan) {
  const Result<secure::SecretKey> key = secure::read_key_file(plan.key_file);
  if (key.code() == Code::kUnavailable)
    return Status(Code::kPermission,
                  "a worker over the network wants a key, and there is none: " + key.status().message() +
                      ". To make one: hip-remote keygen; then its public line goes into the worker's "
                      "--authorized-keys");
  if (!key) return key.status();
  return secure::Identity::make(key.value(), secure::Side::kClient);
}

// The worker's key, and whether it is the one that was met there before.
class Acquaintance {
 public:
  Acquaintance(const KeyPlan& plan, const net::Address& address)
      : plan_(plan), worker_(address.to_string()) {}

  Status judge(const secure::PublicKey& key) {
    const Result<Known> known = Known::read(plan_.known_workers);
    if (!known) return known.status();
    is_new_ = false;
    switch (known.value().ask(worker_, key)) {
      case Known::Answer::kSame: return Status::ok();
      case Known::Answer::kNew: is_new_ = true; return Status::ok();
      case Known::Answer::kChanged: break;
    }
    const Known::Entry& entry = *known.value().find(worker_);
    return {
        Code::kPermission,
        "the worker at " + worker_ + " is not the one that was met there before: its key is " +
            secure::fingerprint(key) + ", and was " + secure::fingerprint(entry.key) +
            ". Either it has a new key, or somebody stands in between. Ask who runs it; if the new key is "
            "right, remove line " +
            std::to_string(entry.line) + " of " + plan_.known_workers};
  }

  // Once the key is proven.
  Status keep(const secure::PublicKey& key) const {
    if (!is_new_) return Status::ok();
    const Status added = Known::append(plan_.known_workers, worker_, key);
    if (!added)
      return {added.code(), "the worker's key cannot be kept, so it would not be known again: " +
                                added.message() + " (TF_KNOWN_WORKERS names the file)"};
    log_line("met the worker at " + worker_ + " for the first time; its key is " + secure::fingerprint(key) +
             " (now in " + plan_.known_workers + ")");
    return Status::ok();
  }

 private:
  const KeyPlan& plan_;
  const std::string worker_;
  bool is_new_ = false;
};

// A worker that does not take us says so in clear, in place of the handshake. Anybody on the way could have
// said it, so no word of it reaches a terminal as anything but text.
Status read_refusal(int socket, Deadline deadline) {
  Result<protocol::HelloReply> reply = protocol::receive_hello_reply(socket, deadline);
  if (!reply) return reply.status();
  for (char& character : reply->message)
    if (character < ' ' || character > '~') character = '?';
  return {Code::kPermission, "the worker refused: " + reply->message};
}

Status shake_hands(int socket, secure::Handshake& handshake, const KeyPlan& plan, Deadline deadline) {
  net::Attach attach;
  attach.security = plan.level;
  TF_RETURN_IF_ERROR(handshake.take({}));
  Status sent = net::write_attach(socket, attach, deadline);
  if (sent) sent = net::write_all(socket, handshake.to_send(), deadline);
  handshake.to_send().clear();
  if (!sent && sent.code() != Code::kPeerLost) return sent;
  const Result<bool> in_tls = net::answers_in_tls(socket, deadline);
  if (!in_tls) return in_tls.status();
  return in_tls.value() ? net::run_handshake(socket, handshake, deadline) : read_refusal(socket, deadline);
}

}  // namespace

Result<SecuredControl> secure_control(net::OwnedFd socket, const KeyPlan& plan, const net::Address& address,
                                      Deadline deadline) {
  if (plan.level == secure::Level::kNone) return SecuredControl{std::move(socket), nullptr};
  Result<std::shared_ptr<const secure::Identity>> own = read_identity(plan);
  if (!own) return own.status();
  Acquaintance worker(plan, address);
  Result<std::unique_ptr<secure::Handshake>> handshake = secure::Handshake::client(
      *own, plan.level, [&worker](const secure::PublicKey& key) { return worker.judge(key); });
  if (!handshake) return handshake.status();
  secure::Handshake& both = **handshake;
  TF_RETURN_IF_ERROR(shake_hands(socket.get(), both, plan, deadline));
  TF_RETURN_IF_ERROR(worker.keep(*both.peer()));
  auto session = std::make_shared<const secure::Session>(both.session());
  Result<std::unique_ptr<net::Records>> records = net::Records::make(*session, secure::Side::kClient);
  if (!records) return records.status();
  return SecuredControl{net::OwnedStream(std::move(socket), std::move(*records)), std::move(session)};
}

}  // namespace tf::proxy
