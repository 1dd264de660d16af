// SPDX-License-Identifier: Apache-2.0
// Metrics: what the worker has counted since it started, and what that looks like to Prometheus. The
// supervisor counts events here; what sessions count themselves is added when it looks (SessionCounts).
// Belongs to the supervisor.
//
// The number of series is bounded: transports, domains, limits and kinds are fixed words, devices are those
// of the worker (kDevicesMax), and of tenants kTenantsNamedMax have series of their own. All others together
// are
// "(others)".
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "worker/base/limits.h"
#include "worker/base/metric_family.h"
#include "worker/base/wait_times.h"
#include "worker/supervisor/session_counts.h"

namespace tf::worker {

inline constexpr std::size_t kTenantsNamedMax = 64;
inline constexpr std::string_view kOtherTenants = "(others)";

// What became of a connection that wanted a session.
enum class Handshake : std::size_t {
  kAccepted,     // it has a session
  kUser,         // another user's program (Door)
  kGaveWay,      // its seat was needed
  kInvalid,      // what it sent is no attach frame or no HELLO
  kUnproven,     // its key was not proven
  kLate,         // it took too long
  kPermission,   // its key is not welcome, or it has none
  kLimit,        // its tenant or the worker has all the sessions that it may have
  kUnavailable,  // its devices cannot be used
  kSession,      // the session process refused it: another release, a transport that cannot be
  kEnd,
};

// What ended, or went wrong, as the supervisor saw it.
enum class ProcessFault : std::size_t {
  kSignal,   // a session process was killed, not by the supervisor
  kError,    // it ended with an error: its client broke the protocol, memory ran out
  kHung,     // it did not answer in time, and was killed
  kChannel,  // it sent the supervisor an invalid message, and was killed
  kSpare,    // it ended before it had a client
  kEnd,
};

// What is so at the moment.
struct WorkerState {
  struct Session {
    std::string tenant;
    std::string_view transport;
    std::uint32_t queued = 0;
    std::map<int, std::uint64_t> leased;  // bytes, by the operator's numbers of devices
  };
  std::vector<Session> sessions;
  std::size_t sessions_max = 0;
  std::size_t tenants = 0;
  std::size_t starting = 0;
  std::size_t spares = 0;
  std::size_t connecting = 0;                  // connections without a session
  std::map<int, std::uint64_t> device_memory;  // bytes, by the operator's numbers; of those that are known
};

class Metrics {
 public:
  void count(Handshake result) { ++handshakes_[static_cast<std::size_t>(result)]; }
  void count(ProcessFault kind) { ++faults_[static_cast<std::size_t>(kind)]; }
  // A session that its tenant could not have.
  void refused(Limit limit) { ++refused_[static_cast<std::size_t>(limit)]; }
  // A connection has its session, so long after it was accepted.
  void started(const std::string& tenant, std::chrono::nanoseconds after);
  // What a session has counted since the last time.
  void add(const std::string& tenant, std::string_view transport, const SessionCounts& fresh);

  MetricFamilies families(const WorkerState& state) const;

 private:
  struct Tenant {
    std::uint64_t started = 0;
    SessionCounts counts;
  };
  static constexpr std::size_t kTransports = 4;  // metrics.cc names them; the last are all others
  static std::size_t transport_of(std::string_view name);
  // The tenant's own, or that of all others.
  const std::string& named(const std::string& tenant) const;
  Tenant& tenant_of(const std::string& name);
  void add_doors(MetricFamilies& families, const WorkerState& state) const;
  void add_traffic(MetricFamilies& families) const;
  void add_trouble(MetricFamilies& families) const;
  void add_tenants(MetricFamilies& families, const WorkerState& state) const;

  std::array<std::uint64_t, static_cast<std::size_t>(Handshake::kEnd)> handshakes_{};
  std::array<std::uint64_t, static_cast<std::size_t>(ProcessFault::kEnd)> faults_{};
  std::array<std::uint64_t, kLimits> refused_{};
  WaitTimes starts_;
  std::array<SessionCounts, kTransports> counts_;
  std::map<std::string, Tenant> tenants_;  // kTenantsNamedMax, and perhaps kOtherTenants
};

}  // namespace tf::worker
