// SPDX-License-Identifier: Apache-2.0
// Parses the command line of hip-worker.
#include "tools/hip-worker/options.h"

#include <algorithm>

#include "reference/gen/programs.h"
#include "tools/command_line/command_line.h"
#include "tools/hip-worker/sandbox_options.h"
#include "tools/hip-worker/socket_options.h"
#include "transport/net/io_timeout.h"
#include "transport/net/own_socket.h"
#include "worker/base/log.h"
#include "worker/supervisor/scrapes.h"

namespace tf::worker {
namespace {

namespace about = reference::hip_worker;

void take(const reference::CommandLine& line, Options& options) {
  options.port = static_cast<std::uint16_t>(line.number(about::kPort, options.port));
  // A door for every user of the machine, or for other machines: only if it is asked for.
  options.no_tcp = line.has(about::kNoTcp);
  options.tcp =
      !options.no_tcp && (line.has(about::kPort) || line.has(about::kListen) || line.has(about::kKeyFile));
  options.runtime = line.text(about::kRuntime, options.runtime);
  if (line.has(about::kDevice)) options.devices = {static_cast<int>(line.number(about::kDevice, 0))};
  options.spares = static_cast<std::size_t>(line.number(about::kSpares, 1));
  options.sessions_max = static_cast<std::size_t>(line.number(about::kSessionsMax, 64));
  options.ready_fd = static_cast<int>(line.number(about::kReadyFd, options.ready_fd));
  options.verbose = line.has(about::kVerbose);
  options.quiet = line.has(about::kQuiet);
  options.is_session = line.has(about::kSession);
  options.is_smi = line.has(about::kSessionSmi);
  if (line.has(about::kSessionTurns))
    options.turns = static_cast<std::uint32_t>(line.number(about::kSessionTurns, 0));
  options.log_form = line.text(about::kLogFormat, "text") == "json" ? LogForm::kJson : LogForm::kText;
  if (options.is_session) options.log_form = LogForm::kBare;
}

// What one tenant may have where others may come, if the command line does not say: not all places.
std::size_t share_of_one(const Options& options) {
  const bool alone =
      options.keys.key_file.empty() && options.guests.users.empty() && options.guests.groups.empty();
  if (alone || options.sessions_max == 1) return options.sessions_max;
  return options.sessions_max - std::max<std::size_t>(1, options.sessions_max / 4);
}

Status take_keys(const reference::CommandLine& line, Options& options) {
  KeyOptions& keys = options.keys;
  keys.key_file = line.text(about::kKeyFile);
  keys.authorized_keys = line.text(about::kAuthorizedKeys);
  keys.rdma_in_clear = line.has(about::kRdmaInClear);
  keys.no_devices = line.has(about::kDevice);
  if (options.is_session) return Status::ok();
  const bool has_keys = !keys.key_file.empty();
  if (has_keys != !keys.authorized_keys.empty())
    return invalid_argument(
        "--key-file and --authorized-keys belong together: the worker's own key, and the keys that may come "
        "in");
  // The command line has checked the word.
  keys.security = secure::parse_level(line.text(about::kSecurity, has_keys ? "encrypt" : "none"))
                      .value_or(secure::Level::kEncrypt);
  if (has_keys != (keys.security != secure::Level::kNone))
    return invalid_argument(
        has_keys
            ? "--security none and --key-file exclude each other: without keys there is nothing to prove"
            : "--security " + std::string(name(keys.security)) + " needs --key-file and --authorized-keys");
  if (keys.rdma_in_clear && keys.security != secure::Level::kAuth)
    return invalid_argument(
        "--rdma-in-clear needs --security auth: at the level encrypt nothing travels in clear");
  return Status::ok();
}

Status take_limits(const reference::CommandLine& line, Options& options) {
  const Result<Limits> shown = Limits::parse(line.text(about::kSessionDevices));
  if (!shown) return shown.status();
  if (!shown.value().devices().empty()) options.devices = shown.value().devices();
  if (options.is_session) return Status::ok();  // the supervisor tells it
  options.device_limits = line.text(about::kDeviceLimits);
  const Result<Limits> limits = Limits::parse(line.text(about::kLimit));
  if (!limits) return Status(limits.code(), "--limit: " + limits.status().message());
  options.tenant_limits = limits.value();
  if (!options.tenant_limits.devices().empty() && !options.devices.empty())
    return invalid_argument("--device and --limit devices= exclude each other");
  if (!options.tenant_limits.has(Limit::kSessions))
    options.tenant_limits.set(
        Limit::kSessions, static_cast<std::uint64_t>(line.number(about::kSessionsPerTenant,
                                                                 static_cast<long>(share_of_one(options)))));
  else if (line.has(about::kSessionsPerTenant))
    return invalid_argument(
        "--sessions-per-tenant and --limit sessions= say the same: one of them is enough");
  return Status::ok();
}

// HOST, or as elsewhere HOST:PORT. A client's address has the same forms.
Status take_listen(const reference::CommandLine& line, Options& options) {
  if (!line.has(about::kListen)) return Status::ok();
  const std::string text = line.text(about::kListen);
  const Result<net::Address> address = net::Address::parse(text);
  if (!address) return Status(address.code(), "--listen: " + address.status().message());
  if (address.value().is_unix())
    return invalid_argument("--listen " + text + ": a Unix socket is named by --socket");
  options.listen = address.value().host();
  const bool has_port = options.listen != text && text.ends_with(fmt::format(":{}", address.value().port()));
  if (!has_port) return Status::ok();
  if (line.has(about::kPort) && options.port != address.value().port())
    return invalid_argument(
        fmt::format("--listen {} and --port {} name two ports: one of them is enough", text, options.port));
  options.port = address.value().port();
  return Status::ok();
}

Status take_metrics(const reference::CommandLine& line, Options& options) {
  if (!line.has(about::kMetrics)) return Status::ok();
  const Result<net::Address> address = Scrapes::parse(line.text(about::kMetrics));
  if (!address) return Status(address.code(), "--metrics: " + address.status().message());
  options.metrics = address.value();
  return Status::ok();
}

bool check(Options& options) {
  const Result<std::chrono::seconds> timeout = net::io_timeout_from_environment();
  if (!timeout) {
    log(LogLevel::kError, "{}", timeout.status().message());
    return false;
  }
  options.io_timeout = timeout.value();
  if (options.is_session) return true;
  options.socket_is_default = !options.tcp && options.socket.empty();
  if (options.socket_is_default) options.socket = net::own_socket();
  const bool proven = options.keys.security != secure::Level::kNone;
  if (options.tcp && !proven && !net::Address::tcp(options.listen, options.port).is_local()) {
    log(LogLevel::kError,
        "--listen {}: anyone who can reach this address could run code here. Listening off loopback needs "
        "--key-file and --authorized-keys (docs/operating.md), or use an SSH tunnel to 127.0.0.1:{}.",
        options.listen, options.port);
    return false;
  }
  return true;
}

}  // namespace

ParseResult parse_options(int argc, char** argv, Options& options) {
  reference::CommandLine line(about::kProgram);
  if (const std::optional<int> code = line.parse(argc, argv))
    return *code == 0 ? ParseResult::kExitOk : ParseResult::kExitError;
  take(line, options);
  set_log_style(options.log_form, options.is_session || goes_to_journal());
  Status status = take_socket_options(line, options);
  if (status) status = take_keys(line, options);
  if (status) status = take_sandbox_options(line, options);
  if (status) status = take_limits(line, options);
  if (status) status = take_listen(line, options);
  if (status) status = take_metrics(line, options);
  if (!status) {
    log(LogLevel::kError, "{}", status.message());
    return ParseResult::kExitError;
  }
  return check(options) ? ParseResult::kRun : ParseResult::kExitError;
}

}  // namespace tf::worker
