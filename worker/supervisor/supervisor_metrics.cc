// SPDX-License-Identifier: Apache-2.0
// What the supervisor shows to monitoring: metrics, and whether it lives and takes clients.
#include <sys/wait.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "worker/base/exit_codes.h"
#include "worker/base/log.h"
#include "worker/supervisor/smi_families.h"
#include "worker/supervisor/supervisor.h"

namespace tf::worker {

Status Supervisor::open_metrics() {
  if (!options_.metrics) return Status::ok();
  Result<Exposition> exposition = Exposition::load();
  if (!exposition) return exposition.status();
  exposition_ = *exposition;
  smi_.set_arguments(smi_arguments());
  const Status opened = scrapes_.open(*options_.metrics);
  if (!opened) return {opened.code(), "--metrics: " + opened.message()};
  const std::string where = scrapes_.address().to_string();
  if (!options_.quiet) log("metrics at {}{}/metrics", scrapes_.address().is_unix() ? "" : "http://", where);
  if (!scrapes_.address().is_local())
    log(LogLevel::kWarning, "whoever can reach {} can read the metrics, tenants' names included", where);
  return Status::ok();
}

ScrapeAnswer Supervisor::answer_scrape(std::string_view path) {
  if (path == "/healthz") return {.body = "ok\n"};
  if (path == "/readyz") return readiness();
  if (path != "/metrics") return {.status = 404, .body = "there are /metrics, /healthz and /readyz\n"};
  for (auto& [pid, child] : children_) look_at(child);
  MetricFamilies families = metrics_.families(state());
  std::ranges::move(smi_families(smi_.readings(device_memory_)), std::back_inserter(families));
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = exposition_.text(families)};
}

// Whether a client that came now would get a session.
ScrapeAnswer Supervisor::readiness() const {
  if (!announced_) return {.status = 503, .body = "no session process is warm yet\n"};
  if (busy() >= options_.sessions_max)
    return {.status = 503, .body = fmt::format("all {} sessions are taken\n", options_.sessions_max)};
  return {.body = "ready\n"};
}

// Adds what its session has counted since the last look.
void Supervisor::look_at(Child& child) {
  const SessionTally* const tally = std::as_const(child.words).tally();
  if (!scrapes_.is_open() || tally == nullptr || !child.audited.has_started) return;
  metrics_.add(child.audited.tenant, child.audited.transport, child.believed.take(read_counts(*tally)));
}

WorkerState Supervisor::state() const {
  WorkerState state;
  state.sessions_max = options_.sessions_max;
  state.tenants = ledger_.size();
  state.starting = count(State::kStarting);
  state.spares = count(State::kSpare);
  state.connecting = intake_.size();
  state.device_memory = device_memory_;
  for (const auto& [pid, child] : children_) {
    if (child.state != State::kServing || !child.audited.has_started) continue;
    WorkerState::Session session{child.audited.tenant, child.audited.transport, 0, {}};
    if (const SessionTally* const tally = child.words.tally())
      session.queued = std::min(tally->queued.load(std::memory_order_relaxed), kQueuedMax);
    for (std::size_t ordinal = 0; child.seat && ordinal < child.devices; ++ordinal)
      session.leased[number_of(child, ordinal)] =
          ledger_.used_in(*child.seat, memory_of(static_cast<int>(ordinal)));
    state.sessions.push_back(std::move(session));
  }
  return state;
}

// The operator's number of a device.
int Supervisor::number_of(const Child& child, std::size_t ordinal) const {
  return ordinal < child.shown.size() ? child.shown[ordinal] : static_cast<int>(ordinal);
}

// It has no client yet.
void Supervisor::note_devices(Child& child) {
  child.devices = std::min<std::uint64_t>(child.devices, protocol::kDevicesMax);
  for (std::size_t ordinal = 0; ordinal < child.devices; ++ordinal) {
    const FoundDevice found = child.words.device(ordinal);
    if (found.bytes == 0) continue;
    device_memory_[number_of(child, ordinal)] = found.bytes;
    watched_[number_of(child, ordinal)] = found.name;
  }
  if (scrapes_.is_open()) smi_.keep(watched_);
}

// Its walls are those of sessions, but it stays the supervisor's user: a number of --session-uids is a
// session.
std::vector<std::string> Supervisor::smi_arguments() const {
  std::vector<std::string> arguments = {"hip-worker", "--session", "--session-smi", "--runtime",
                                        options_.runtime};
  add_walls(options_.sandbox, arguments);
  return arguments;
}

void Supervisor::note_end(Child& child, int status) {
  look_at(child);
  if (!child.end_reason.empty()) return;  // it is no failure of the session's own, or has been counted
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kExitNoClient && !child.audited.has_started) return metrics_.count(Handshake::kSession);
  if (WIFSIGNALED(status)) metrics_.count(ProcessFault::kSignal);
  if (WIFEXITED(status) && code != 0) metrics_.count(ProcessFault::kError);
}

}  // namespace tf::worker
