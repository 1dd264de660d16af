// SPDX-License-Identifier: Apache-2.0
// Tells a session of its tenant's other ones.
#include <chrono>

#include "worker/supervisor/supervisor.h"

namespace tf::worker {
namespace {

std::uint64_t age_ms(const AuditedSession& session) {
  const auto age = std::chrono::steady_clock::now() - session.since;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(age).count());
}

}  // namespace

// By the numbers of their processes. The answer is lost if there is no room: a process that does not read its
// answers does not get them.
void Supervisor::tell_session(pid_t pid, const Child& asker, const ChannelMessage& asked) const {
  ChannelMessage answer;
  answer.kind = Envelope::kAnswer;
  answer.number = asked.number;
  std::uint32_t left = asked.row.index;
  for (const auto& [process, child] : children_) {
    const bool counts = process != pid && child.state == State::kServing && child.audited.has_started &&
                        child.seat && child.seat->tenant == asker.seat->tenant;
    if (!counts || left-- != 0) continue;
    for (std::size_t device = 0; device < answer.row.memory_bytes.size(); ++device)
      answer.row.memory_bytes[device] = ledger_.used_in(*child.seat, memory_of(static_cast<int>(device)));
    answer.row.known = true;
    answer.row.session = child.session_id;
    answer.row.client_pid = child.audited.client_pid;
    answer.row.worker_pid = static_cast<std::uint64_t>(process);
    answer.row.age_ms = age_ms(child.audited);
    answer.row.peer = child.audited.peer;
    answer.whom = child.audited.program;
    break;
  }
  static_cast<void>(send_message(asker.channel.get(), answer, Deadline::now()));
}

}  // namespace tf::worker
