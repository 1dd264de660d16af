// SPDX-License-Identifier: Apache-2.0
// Puts the audit lines together.
#include "worker/supervisor/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <string_view>
#include <vector>

#include "worker/base/log.h"

namespace tf::worker {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t read(const std::atomic<std::uint64_t>& number) {
  return number.load(std::memory_order_relaxed);
}

std::vector<LogField> who(const AuditedSession& session, std::string_view event) {
  return {{"event", event},
          {"session", session.id},
          {"tenant", std::string_view(session.tenant)},
          {"key", std::string_view(session.key)},
          {"peer", std::string_view(session.peer)},
          {"transport", std::string_view(session.transport)},
          {"devices", std::string_view(session.devices)},
          {"program", std::string_view(session.program)},
          {"client_pid", session.client_pid},
          {"session_process", static_cast<std::uint64_t>(session.process)}};
}

}  // namespace

double processor_seconds(const rusage& usage) { return seconds(usage.ru_utime) + seconds(usage.ru_stime); }

std::string device_numbers(std::uint64_t count, std::span<const int> shown) {
  if (!shown.empty()) return fmt::format("{}", fmt::join(shown, ","));
  if (count == 0) return "none";
  return count == 1 ? "0" : fmt::format("0-{}", count - 1);
}

void write_start(const AuditedSession& session) {
  log_line(LogLevel::kInfo, fmt::format("audit: session {} begins", session.id),
           who(session, "session_start"));
}

void write_end(const AuditedSession& session, const SessionEnd& end) {
  std::vector<LogField> fields = who(session, "session_end");
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - session.since;
  fields.push_back({"seconds", lasted.count()});
  fields.push_back({"processor_seconds", end.processor_seconds});
  if (const SessionTally* const tally = end.tally) {
    fields.push_back({"calls", tally->requests()});
    fields.push_back(
        {"bytes_to_worker", read(tally->message_bytes_to_worker) + read(tally->payload_bytes_to_worker)});
    fields.push_back(
        {"bytes_to_client", read(tally->message_bytes_to_client) + read(tally->payload_bytes_to_client)});
    if (tally->has_device.load(std::memory_order_relaxed) != 0)
      fields.push_back({"device_seconds", static_cast<double>(tally->device_ns) / 1e9});
  }
  fields.push_back({"reason", std::string_view(end.reason)});
  log_line(LogLevel::kInfo, fmt::format("audit: session {} ends", session.id), fields);
}

}  // namespace tf::worker
