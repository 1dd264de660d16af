// SPDX-License-Identifier: Apache-2.0
// Counts sessions and their starts, and hands out slots of tenants' pages.
#include "worker/supervisor/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tf::worker {
namespace {

constexpr std::chrono::minutes kStartsPeriod{1};

// Whether a limit is for what sessions count themselves.
bool needs_page(const Limits& limits) {
  return std::ranges::any_of(std::array{Limit::kMemory, Limit::kHost, Limit::kStreams, Limit::kCompiles},
                             [&limits](Limit limit) { return limits.of(limit) != 0; });
}

}  // namespace

void Ledger::forget_starts(Tenant& tenant, Clock::time_point now) {
  std::erase_if(tenant.starts, [now](Clock::time_point start) { return now - start >= kStartsPeriod; });
}

// So that there are never more tenants than sessions of the last minute.
void Ledger::forget_tenants(Clock::time_point now) {
  for (auto& [name, tenant] : tenants_) forget_starts(tenant, now);
  std::erase_if(tenants_,
                [](const auto& entry) { return entry.second.held == 0 && entry.second.starts.empty(); });
}

Status Ledger::may_start(const std::string& tenant, const Limits& limits, Clock::time_point now) {
  const auto found = tenants_.find(tenant);
  if (found == tenants_.end()) return Status::ok();
  forget_starts(found->second, now);
  const std::uint64_t sessions = limits.of(Limit::kSessions);
  if (sessions != 0 && found->second.sessions >= sessions)
    return {Code::kResourceExhausted,
            fmt::format("{} has {} sessions already, as many as one may have here (--sessions-per-tenant)",
                        tenant, found->second.sessions)};
  const std::uint64_t starts = limits.of(Limit::kStarts);
  if (starts != 0 && found->second.starts.size() >= starts)
    return {Code::kResourceExhausted,
            fmt::format("{} has started {} sessions within a minute, as many as it may (the limit starts)",
                        tenant, found->second.starts.size())};
  return Status::ok();
}

Result<Ledger::Seat> Ledger::enter(const std::string& tenant, const Limits& limits, Clock::time_point now) {
  Tenant& of = tenants_[tenant];
  of.taken.resize(slots_, false);
  if (!of.page) {
    Result<TenantPage> page = TenantPage::make(slots_, of.file);
    if (page) of.page = std::move(*page);
    if (!page && needs_page(limits)) {
      forget_tenants(now);
      return page.status();
    }
  }
  const auto free = std::ranges::find(of.taken, false);
  if (free == of.taken.end()) return Status(Code::kResourceExhausted, tenant + " has all slots of its page");
  *free = true;
  ++of.held;
  ++of.sessions;
  if (limits.of(Limit::kStarts) != 0) of.starts.push_back(now);
  return Seat{tenant, static_cast<std::size_t>(free - of.taken.begin()), limits};
}

void Ledger::uncount(Seat& seat) {
  if (std::exchange(seat.counts, false)) --tenants_.at(seat.tenant).sessions;
}

TenantPage::Use Ledger::leave(const Seat& seat, Clock::time_point now) {
  Tenant& of = tenants_.at(seat.tenant);
  const TenantPage::Use use = of.page ? of.page->clear(seat.slot) : TenantPage::Use{};
  of.taken[seat.slot] = false;
  --of.held;
  if (seat.counts) --of.sessions;
  forget_tenants(now);
  return use;
}

std::uint64_t Ledger::used_in(const Seat& seat, Counter counter) const {
  const Tenant& of = tenants_.at(seat.tenant);
  return of.page ? of.page->used_in(seat.slot, counter) : 0;
}

std::size_t Ledger::sessions_of(const std::string& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? 0 : found->second.sessions;
}

}  // namespace tf::worker
