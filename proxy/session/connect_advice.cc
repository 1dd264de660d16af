// SPDX-License-Identifier: Apache-2.0
// Adds advice to connection failures.
#include "proxy/session/connect_advice.h"

#include <string>
#include <string_view>

#include "proxy/base/own_worker.h"
#include "transport/net/own_socket.h"

namespace tf::proxy {
namespace {

constexpr std::string_view kUsualWorker = "localhost:18515";  // by the variables' defaults

std::string patience(const Settings& settings) {
  return "TF_CONNECT_TIMEOUT (" + std::to_string(settings.connect_timeout.count() / 1000) + " s)";
}

std::string how_to_start(const net::Address& address) {
  if (address.is_unix()) return "To start a worker there: hip-worker --socket " + address.path();
  const std::string port = std::to_string(address.port());
  if (address.is_local()) return "To start a worker there: hip-worker --port " + port;
  return "To start a worker for other hosts: hip-worker --listen 0.0.0.0 --port " + port +
         " --key-file FILE --authorized-keys FILE (docs/operating.md). One without keys listens on loopback "
         "only: "
         "tunnel its port (ssh -N -L " +
         port + ":127.0.0.1:" + port + " " + address.host() + "), and set TF_WORKER_HOST=localhost";
}

}  // namespace

Status advise_unreachable(const Status& failure, const net::Address& address, const Settings& settings) {
  if (failure.code() == Code::kTimeout)
    return {failure.code(), address.to_string() + " did not answer within " + patience(settings) +
                                ": check the address, and that no firewall is in the way"};
  if (failure.code() == Code::kPermission && address.is_unix())
    return {failure.code(),
            failure.message() + ". The mode of " + address.path() +
                ", or of a folder above it, keeps this user out. Whoever runs the worker can let "
                "others in: hip-worker --allow-uid, --allow-gid, --socket-mode"};
  if (failure.code() != Code::kUnavailable || failure.message().starts_with("cannot look up")) return failure;
  if (settings.worker == kUsualWorker && has_choice(settings))
    return {failure.code(), failure.message() + ", and no worker of this user listens on unix:" +
                                net::own_socket() + ". To start one: hip-worker"};
  return {failure.code(), failure.message() + ". " + how_to_start(address)};
}

Status advise_handshake(const Status& failure, const net::Address& address, const Settings& settings) {
  if (failure.code() == Code::kTimeout)
    return {failure.code(), address.to_string() + " accepted the connection but sent nothing within " +
                                patience(settings) + ": it is not a hip-worker, or it hangs"};
  if (failure.code() == Code::kProtocol || failure.code() == Code::kPeerLost)
    return {failure.code(), address.to_string() + ": " + failure.message()};
  return failure;
}

}  // namespace tf::proxy
