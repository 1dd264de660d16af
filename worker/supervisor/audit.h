// SPDX-License-Identifier: Apache-2.0
// The audit lines: who had a session, how it came in, what it used, and why it ended. They are the
// supervisor's own words, and so are who and when; what a session process says about itself is marked below.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "worker/base/session_tally.h"

namespace tf::worker {

// Who has a session.
struct AuditedSession {
  std::uint64_t id = 0;
  std::string tenant;   // the name of a key, or "user N"
  std::string key;      // its fingerprint, "unix uid N" or "none"
  std::string peer;     // "ADDRESS:PORT" or "unix pid N"
  std::string devices;  // "0-3": the operator's numbers
  pid_t process = 0;
  // From here on said by the session process, before it ran anything for its client.
  std::string transport;
  std::string program;  // the client's words
  std::uint64_t client_pid = 0;
  bool has_started = false;
  std::chrono::steady_clock::time_point since;
};

// What became of it. `tally`: the process's own numbers; null: unknown.
struct SessionEnd {
  const SessionTally* tally = nullptr;
  double processor_seconds = 0;
  std::string reason;
};

// Of the process and of all that it had waited for.
double processor_seconds(const rusage& usage);

// "0-3"; `shown`: the devices that a session sees; empty: all.
std::string device_numbers(std::uint64_t count, std::span<const int> shown);

void write_start(const AuditedSession& session);
// REQUIRES: session.has_started
void write_end(const AuditedSession& session, const SessionEnd& end);

}  // namespace tf::worker
