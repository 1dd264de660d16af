// SPDX-License-Identifier: Apache-2.0
// What the supervisor knows about sessions, for the audit lines.
#include <sys/wait.h>

#include <cstring>
#include <utility>

#include "worker/base/exit_codes.h"
#include "worker/base/log.h"
#include "worker/supervisor/supervisor.h"

namespace tf::worker {
namespace {

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

AuditedSession Supervisor::identify(const Intake::Connection& connection, std::uint64_t session_id,
                                    pid_t process, const Child& child) const {
  AuditedSession session;
  session.id = session_id;
  session.process = process;
  session.devices = device_numbers(child.devices, child.shown);
  session.tenant = connection.client ? connection.client->tenant : connection.peer;
  session.key = connection.client ? secure::fingerprint(connection.client->key) : "none";
  session.peer = net::peer_text(connection.socket.get());
  if (!connection.is_local) return session;
  const Result<net::PeerCredentials> peer = net::peer_credentials(connection.socket.get());
  if (!peer) return session;
  session.key = fmt::format("unix uid {}", peer.value().uid);
  session.peer = fmt::format("unix pid {}", peer.value().pid);
  return session;
}

// Its client has been judged, and nothing was run for it yet.
void Supervisor::audit_start(Child& child, ChannelMessage& message) {
  AuditedSession& session = child.audited;
  session.transport = std::move(message.transport);
  session.program = std::move(message.whom);
  session.client_pid = message.number;
  session.has_started = true;
  session.since = std::chrono::steady_clock::now();
  child.believed = BelievedCounts(session.since);
  metrics_.started(session.tenant, session.since - child.accepted);
  if (!options_.quiet) write_start(session);
}

void Supervisor::audit_end(const Child& child, int status, const rusage& usage) {
  if (!child.audited.has_started || options_.quiet) return;
  SessionEnd end;
  end.tally = child.words.tally();
  end.processor_seconds = cgroups_.processor_seconds(child.cgroup).value_or(processor_seconds(usage));
  end.reason = child.end_reason;
  if (end.reason.empty() && !WIFSIGNALED(status)) end.reason = child.words.read_end();
  if (end.reason.empty()) end.reason = how_it_ended(status);
  write_end(child.audited, end);
}

// The session process has logged a refused client, unless it was told to be quiet. Either way it counts, so
// that a flood of them silences the next.
void Supervisor::log_end(const Child& child, int status) {
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::string whose = child.words.read(child.shown);
  if (!whose.empty()) whose = fmt::format(" ({})", whose);
  if (options_.verbose) return log("session {}{} ended: {}", child.session_id, whose, how_it_ended(status));
  if (code == 0) return;
  if (code == kExitNoClient) return static_cast<void>(intake_.log().allow(LogLimit::Clock::now()));
  intake_.log().line("session {}{} ended: {}", child.session_id, whose, how_it_ended(status));
}

void Supervisor::log_spare_end(int status) const {
  log(LogLevel::kWarning, "a spare session process ended: {}", how_it_ended(status));
}

}  // namespace tf::worker
