// SPDX-License-Identifier: Apache-2.0
// Counts for metrics, and makes families of them.
#include "worker/supervisor/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "worker/supervisor/families.h"

namespace tf::worker {
namespace {

using Type = MetricFamily::Type;
using Labels = MetricLabels;

constexpr std::array kTransportNames = {"shm", "tcp", "rdma", "other"};
// By the high byte of opcodes (tools/apigen/check.py).
constexpr std::array<const char*, kCallDomains> kDomainNames = {
    "connection", "device",  "memory", "stream", "event", "module", "graph", "graph",
    "smi",        "context", "other",  "other",  "other", "other",  "other", "other"};
constexpr std::array<const char*, static_cast<std::size_t>(Handshake::kEnd)> kHandshakeNames = {
    "accepted",
    "refused_user",
    "gave_way",
    "invalid",
    "unproven",
    "late",
    "refused_permission",
    "refused_limit",
    "refused_unavailable",
    "refused_session"};
constexpr std::array<const char*, static_cast<std::size_t>(ProcessFault::kEnd)> kFaultNames = {
    "session_signal", "session_error", "session_hung", "session_channel", "spare_ended"};
constexpr std::array<const char*, static_cast<std::size_t>(SessionFault::kEnd)> kSessionFaultNames = {
    "posted_call", "stream_work", "device"};

void add_gauge(MetricFamilies& families, std::string name, std::string help, std::size_t value) {
  add_sample(add_family(families, Type::kGauge, std::move(name), std::move(help)), {},
             static_cast<double>(value));
}

// `count_of`: of each bucket alone.
template <typename CountOf>
MetricFamily::Sample histogram(Labels labels, std::uint64_t total_ns, CountOf count_of) {
  MetricFamily::Sample sample{std::move(labels), static_cast<double>(total_ns) / 1e9, {}};
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < WaitTimes::kBuckets; ++bucket) {
    sum += count_of(bucket);
    sample.buckets.push_back({bucket + 1 == WaitTimes::kBuckets ? std::numeric_limits<double>::infinity()
                                                                : WaitTimes::bound_seconds(bucket),
                              sum});
  }
  return sample;
}

}  // namespace

std::size_t Metrics::transport_of(std::string_view name) {
  const auto found = std::find(kTransportNames.begin(), kTransportNames.end() - 1, name);
  return static_cast<std::size_t>(found - kTransportNames.begin());
}

const std::string& Metrics::named(const std::string& tenant) const {
  static const std::string others(kOtherTenants);
  return tenants_.contains(tenant) ? tenant : others;
}

// A name that was heard once keeps its series: a counter that vanished and came back would be another one.
Metrics::Tenant& Metrics::tenant_of(const std::string& name) {
  const bool has_room = tenants_.contains(name) || tenants_.size() < kTenantsNamedMax;
  return tenants_[has_room ? name : std::string(kOtherTenants)];
}

void Metrics::started(const std::string& tenant, std::chrono::nanoseconds after) {
  count(Handshake::kAccepted);
  ++tenant_of(tenant).started;
  starts_.note(after);
}

void Metrics::add(const std::string& tenant, std::string_view transport, const SessionCounts& fresh) {
  counts_[transport_of(transport)] += fresh;
  tenant_of(tenant).counts += fresh;
}

MetricFamilies Metrics::families(const WorkerState& state) const {
  MetricFamilies families;
  add_doors(families, state);
  add_traffic(families);
  add_trouble(families);
  add_tenants(families, state);
  return families;
}

void Metrics::add_doors(MetricFamilies& families, const WorkerState& state) const {
  std::array<std::size_t, kTransports> sessions{};
  std::uint64_t queued = 0;
  std::uint32_t deepest = 0;
  for (const WorkerState::Session& session : state.sessions) {
    ++sessions[transport_of(session.transport)];
    queued += session.queued;
    deepest = std::max(deepest, session.queued);
  }
  MetricFamily& open = add_family(families, Type::kGauge, "hip_remote_sessions", "Sessions that are open.");
  for (std::size_t each = 0; each < kTransports; ++each)
    add_sample(open, {{"transport", kTransportNames[each]}}, number(sessions[each]));
  add_gauge(families, "hip_remote_sessions_max", "Sessions that may be open (--sessions-max).",
            state.sessions_max);
  add_gauge(families, "hip_remote_tenants", "Tenants with sessions, or whose last ones started lately.",
            state.tenants);
  MetricFamily& warm = add_family(families, Type::kGauge, "hip_remote_spare_processes",
                                  "Session processes without a client, by state.");
  add_sample(warm, {{"state", "starting"}}, number(state.starting));
  add_sample(warm, {{"state", "warm"}}, number(state.spares));
  add_gauge(families, "hip_remote_connecting", "Connections that have no session yet.", state.connecting);
  MetricFamily& depth = add_family(families, Type::kGauge, "hip_remote_queued_requests",
                                   "Requests taken from the transports and not executed yet.");
  add_sample(depth, {{"of", "all"}}, number(queued));
  add_sample(depth, {{"of", "deepest"}}, number(deepest));
  MetricFamily& results = add_family(families, Type::kCounter, "hip_remote_handshakes_total",
                                     "Connections that wanted a session, by what became of them.");
  for (std::size_t each = 0; each < handshakes_.size(); ++each)
    add_sample(results, {{"result", kHandshakeNames[each]}}, number(handshakes_[each]));
  add_family(families, Type::kHistogram, "hip_remote_session_start_seconds",
             "From an accepted connection to its session.")
      .samples.push_back(histogram({}, starts_.total_ns.load(),
                                   [this](std::size_t bucket) { return starts_.counts[bucket].load(); }));
}

void Metrics::add_traffic(MetricFamilies& families) const {
  MetricFamily& calls =
      add_family(families, Type::kCounter, "hip_remote_calls_total",
                 "Requests executed, by domain, and whether the client waits for an answer.");
  for (std::size_t domain = 0; domain < kCallDomains; ++domain) {
    std::array<std::uint64_t, 2> counts{};
    for (std::size_t same = domain; same < kCallDomains; ++same)
      if (std::string_view(kDomainNames[same]) == kDomainNames[domain])
        for (const SessionCounts& of : counts_)
          for (const bool posted : {false, true}) counts[posted ? 1 : 0] += of.calls(same, posted);
    if (domain != 0 && std::string_view(kDomainNames[domain - 1]) == kDomainNames[domain]) continue;
    add_sample(calls, {{"domain", kDomainNames[domain]}, {"kind", "call"}}, number(counts[0]));
    add_sample(calls, {{"domain", kDomainNames[domain]}, {"kind", "post"}}, number(counts[1]));
  }
  MetricFamily& trips = add_family(families, Type::kCounter, "hip_remote_round_trips_total",
                                   "Requests whose client waits for an answer, by transport.");
  MetricFamily bytes{"hip_remote_transferred_bytes_total",
                     "Messages and payload over the transports; not what is copied in shared memory.",
                     Type::kCounter,
                     {}};
  MetricFamily waits{"hip_remote_device_wait_seconds",
                     "How long requests waited for a device's work that was not done when they came.",
                     Type::kHistogram,
                     {}};
  for (std::size_t each = 0; each < kTransports; ++each) {
    const SessionCounts& of = counts_[each];
    const std::string name = kTransportNames[each];
    add_sample(trips, {{"transport", name}}, number(of.round_trips()));
    constexpr std::array kForms = {std::pair{"message", "to_worker"}, std::pair{"message", "to_client"},
                                   std::pair{"payload", "to_worker"}, std::pair{"payload", "to_client"}};
    for (std::size_t form = 0; form < kForms.size(); ++form)
      add_sample(bytes,
                 {{"transport", name}, {"form", kForms[form].first}, {"direction", kForms[form].second}},
                 number(of.values[SessionCounts::kBytes + form]));
    waits.samples.push_back(
        histogram({{"transport", name}}, of.values[SessionCounts::kWaitTotal],
                  [&of](std::size_t bucket) { return of.values[SessionCounts::kWaits + bucket]; }));
  }
  families.push_back(std::move(bytes));
  families.push_back(std::move(waits));
}

void Metrics::add_trouble(MetricFamilies& families) const {
  SessionCounts all;
  for (const SessionCounts& of : counts_) all += of;
  MetricFamily& refused = add_family(families, Type::kCounter, "hip_remote_quota_refusals_total",
                                     "Requests and sessions refused because a tenant's limit was reached.");
  for (std::size_t each = 0; each < kLimits; ++each) {
    if (static_cast<Limit>(each) == Limit::kWeight) continue;  // shares out, and refuses nothing
    add_sample(refused, {{"limit", std::string(name(static_cast<Limit>(each)))}},
               number(refused_[each]) + number(all.values[SessionCounts::kRefused + each]));
  }
  MetricFamily& faults = add_family(families, Type::kCounter, "hip_remote_faults_total",
                                    "What went wrong in sessions, by kind.");
  for (std::size_t each = 0; each < kFaultNames.size(); ++each)
    add_sample(faults, {{"kind", kFaultNames[each]}}, number(faults_[each]));
  for (std::size_t each = 0; each < kSessionFaultNames.size(); ++each)
    add_sample(faults, {{"kind", kSessionFaultNames[each]}},
               number(all.values[SessionCounts::kFaults + each]));
}

void Metrics::add_tenants(MetricFamilies& families, const WorkerState& state) const {
  std::map<int, std::uint64_t> leased;
  std::map<std::string, std::uint64_t> of_tenant;
  std::map<std::string, std::uint64_t> sessions;
  for (const WorkerState::Session& session : state.sessions) {
    const std::string& tenant = named(session.tenant);
    ++sessions[tenant];
    for (const auto& [device, bytes] : session.leased) {
      leased[device] += bytes;
      of_tenant[tenant] += bytes;
    }
  }
  MetricFamily memory{"hip_remote_device_memory_bytes", "Memory of a device.", Type::kGauge, {}};
  MetricFamily used{
      "hip_remote_device_memory_leased_bytes", "Device memory that sessions have.", Type::kGauge, {}};
  MetricFamily free{"hip_remote_device_memory_free_bytes",
                    "Device memory that no session of this worker has.",
                    Type::kGauge,
                    {}};
  for (const auto& [device, bytes] : state.device_memory) {
    const Labels labels = {{"device", std::to_string(device)}};
    // What sessions say of themselves: no more than there is.
    const std::uint64_t have = std::min(leased[device], bytes);
    add_sample(memory, labels, number(bytes));
    add_sample(used, labels, number(have));
    add_sample(free, labels, number(bytes - have));
  }
  MetricFamily open{"hip_remote_tenant_sessions", "Sessions of a tenant that are open.", Type::kGauge, {}};
  MetricFamily have{
      "hip_remote_tenant_leased_bytes", "Device memory that a tenant's sessions have.", Type::kGauge, {}};
  MetricFamily started{
      "hip_remote_tenant_sessions_started_total", "Sessions that a tenant has had.", Type::kCounter, {}};
  MetricFamily calls{"hip_remote_tenant_calls_total", "Requests executed for a tenant.", Type::kCounter, {}};
  MetricFamily bytes{"hip_remote_tenant_transferred_bytes_total",
                     "Messages and payload of a tenant's sessions, by direction.",
                     Type::kCounter,
                     {}};
  for (const auto& [name, tenant] : tenants_) {
    const Labels labels = {{"tenant", name}};
    add_sample(open, labels, number(sessions[name]));
    add_sample(have, labels, number(of_tenant[name]));
    add_sample(started, labels, number(tenant.started));
    add_sample(calls, labels, number(tenant.counts.all_calls()));
    add_sample(bytes, {{"tenant", name}, {"direction", "to_worker"}},
               number(tenant.counts.bytes_to_worker()));
    add_sample(bytes, {{"tenant", name}, {"direction", "to_client"}},
               number(tenant.counts.bytes_to_client()));
  }
  for (MetricFamily* family : {&memory, &used, &free, &open, &have, &started, &calls, &bytes})
    families.push_back(std::move(*family));
}

}  // namespace tf::worker
