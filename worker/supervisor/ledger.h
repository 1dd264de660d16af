// SPDX-License-Identifier: Apache-2.0
// Ledger: what each tenant has of this worker. A tenant is who Intake::Connection::peer names: the name of a
// key, a user of the Unix socket, or an address. What its sessions use they count themselves, in the tenant's
// page; how many there are, and how often they start, is counted here. Belongs to the supervisor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "worker/base/limits.h"
#include "worker/base/tenant_page.h"

namespace tf::worker {

class Ledger {
 public:
  using Clock = std::chrono::steady_clock;

  // What a session holds here, from before it has its client until its process has ended.
  struct Seat {
    std::string tenant;
    std::size_t slot = 0;
    Limits limits;
    bool counts = true;  // as one of the tenant's sessions
  };

  // `slots`: as many as sessions of one tenant can be there.
  explicit Ledger(std::size_t slots) : slots_(slots) {}

  // Ok, or why the tenant can have no further session: kSessions, kStarts.
  Status may_start(const std::string& tenant, const Limits& limits, Clock::time_point now = Clock::now());
  // REQUIRES: may_start() has just said yes.
  Result<Seat> enter(const std::string& tenant, const Limits& limits, Clock::time_point now = Clock::now());
  // The session's process never had the client, but is not gone yet: its slot stays taken.
  void uncount(Seat& seat);
  // What session processes open. Owned by the ledger. None: the system gives no such memory, and the tenant
  // has no limits that need it.
  const net::OwnedFd& page_of(const Seat& seat) const { return tenants_.at(seat.tenant).file; }
  // The session's process has ended, or never had the client. Returns what it left.
  TenantPage::Use leave(const Seat& seat, Clock::time_point now = Clock::now());

  // What it says that it uses now.
  std::uint64_t used_in(const Seat& seat, Counter counter) const;
  std::size_t sessions_of(const std::string& tenant) const;
  // Tenants with sessions, or whose last ones started lately.
  std::size_t size() const { return tenants_.size(); }

 private:
  struct Tenant {
    net::OwnedFd file;
    std::optional<TenantPage> page;         // none: it could not be made
    std::vector<bool> taken;                // slots
    std::size_t held = 0;                   // slots
    std::size_t sessions = 0;               // those that count
    std::vector<Clock::time_point> starts;  // of the last minute, the oldest first
  };
  static void forget_starts(Tenant& tenant, Clock::time_point now);
  void forget_tenants(Clock::time_point now);

  const std::size_t slots_;
  std::map<std::string, Tenant> tenants_;
};

}  // namespace tf::worker
