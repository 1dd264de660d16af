// SPDX-License-Identifier: Apache-2.0
// Puts together what HIP, the SMI runtime and the supervisor know.
#include "worker/smi/monitor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "worker/base/log.h"

namespace tf::worker::smi {
namespace {

using tf::smi::is_known;
using tf::smi::kUnknown;

constexpr std::chrono::seconds kAnswerTime{5};

// "0000:03:00.0"
void set_address(const std::string& pci, tf::smi::Facts& facts) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  if (std::sscanf(pci.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3) return;
  facts.pci_domain = domain;
  facts.pci_bus = bus;
  facts.pci_device = device;
  facts.pci_function = function;
}

// Both halves count: runtimes number devices at the end.
std::uint64_t id_of(const std::array<std::uint8_t, 16>& uuid) {
  std::uint64_t id = 0;
  for (std::size_t byte = 0; byte < 8; ++byte)
    id = id << 8 | static_cast<std::uint64_t>(uuid[byte] ^ uuid[byte + 8]);
  return id;
}

tf::smi::Target target_of(const protocol::DeviceSnapshot& device) {
  return {device.pci_bus_id, device.properties.gcn_arch_name};
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

const protocol::DeviceSnapshot* Monitor::find(std::uint32_t device) const {
  return device < parts_.snapshot.devices.size() ? &parts_.snapshot.devices[device] : nullptr;
}

void Monitor::tell_once(const Status& why) {
  if (!std::exchange(told_, true)) log(LogLevel::kWarning, "SMI values are not known: {}", why.message());
}

tf::smi::Runtime* Monitor::runtime(const tf::smi::Target& target) {
  if (std::exchange(opened_, true)) return runtime_.get();
  const char* const choice = std::getenv("TF_SMI_RUNTIME");
  Result<std::unique_ptr<tf::smi::Runtime>> opened =
      tf::smi::open_runtime(choice != nullptr && *choice != '\0' ? choice : "auto", target);
  if (opened)
    runtime_ = std::move(*opened);
  else
    tell_once(opened.status());
  return runtime_.get();
}

hipError_t Monitor::describe(std::uint32_t device, tf::smi::Facts& facts) {
  const protocol::DeviceSnapshot* const found = find(device);
  if (found == nullptr) return hipErrorInvalidDevice;
  facts = tf::smi::unknown_facts();
  const tf::smi::Target target = target_of(*found);
  set_address(target.pci, facts);
  tf::smi::set_text(facts.name, found->properties.name);
  tf::smi::set_text(facts.architecture, target.architecture);
  facts.compute_units = static_cast<std::uint64_t>(std::max(found->properties.multi_processor_count, 0));
  facts.memory_total_bytes = found->total_memory;
  if (const std::uint64_t id = id_of(found->properties.uuid); id != 0) facts.unique_id = id;
  tf::smi::Runtime* const source = runtime(target);
  if (source == nullptr) return hipSuccess;
  tf::smi::set_text(facts.runtime, source->name());
  if (const Status described = source->describe(target, facts); !described.is_ok()) tell_once(described);
  return hipSuccess;
}

// A tenant with a limit sees its part as all that there is. The CPU runtime counts a process's own memory
// only.
std::uint64_t Monitor::memory_used(int device, std::uint64_t known) const {
  const Counter memory = memory_of(device);
  if (parts_.runs_on_host || parts_.share.memory_limit(static_cast<std::size_t>(device)) != 0)
    return parts_.share.used_here(memory) + parts_.share.used_by_others(memory);
  if (is_known(known)) return known;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const int before = parts_.device.get();
  hipError_t error = parts_.device.use(device);
  if (error == hipSuccess) error = parts_.own_calls.keep(parts_.hip.hipMemGetInfo(&free_bytes, &total_bytes));
  parts_.device.return_to(before);
  return error == hipSuccess ? total_bytes - std::min(free_bytes, total_bytes) : kUnknown;
}

hipError_t Monitor::sample(std::uint32_t device, tf::smi::Sample& sample) {
  const protocol::DeviceSnapshot* const found = find(device);
  if (found == nullptr) return hipErrorInvalidDevice;
  sample = tf::smi::unknown_sample();
  const tf::smi::Target target = target_of(*found);
  if (tf::smi::Runtime* const source = runtime(target); source != nullptr)
    if (const Status sampled = source->sample(target, sample); !sampled.is_ok()) tell_once(sampled);
  sample.time_ns = now_ns();
  const std::uint64_t used = memory_used(static_cast<int>(device), sample.memory_used_bytes);
  sample.memory_used_bytes = is_known(used) ? std::min(used, found->total_memory) : used;
  return hipSuccess;
}

// Libraries are asked about two devices only: of one alone they know no link.
hipError_t Monitor::find_link(std::uint32_t from, std::uint32_t to, tf::smi::Link& link) {
  const protocol::DeviceSnapshot* const one = find(from);
  const protocol::DeviceSnapshot* const other = find(to);
  if (one == nullptr || other == nullptr) return hipErrorInvalidDevice;
  link.hops = link.weight = link.bandwidth_least_mb_per_s = link.bandwidth_most_mb_per_s = kUnknown;
  const protocol::PeerLink& peer = parts_.snapshot.peer(from, to);
  link.peer_access = from == to || peer.can_access != 0 ? 1 : 0;
  tf::smi::LinkKind kind = tf::smi::LinkKind::kPcie;
  if (parts_.runs_on_host) kind = tf::smi::LinkKind::kMemory;
  if (from == to) kind = tf::smi::LinkKind::kSame;
  link.kind = static_cast<std::uint64_t>(kind);
  if (from == to) link.hops = link.weight = 0;
  if (from != to && parts_.runs_on_host) link.hops = 1;
  if (from == to) return hipSuccess;
  if (tf::smi::Runtime* const source = runtime(target_of(*one)); source != nullptr)
    if (const Status found = source->find_link(target_of(*one), target_of(*other), link); !found.is_ok())
      tell_once(found);
  return hipSuccess;
}

hipError_t Monitor::find_session(std::uint32_t index, tf::smi::Session& session) {
  session = {};
  if (parts_.broker == nullptr) return hipSuccess;
  if (!parts_.broker->find_session(index).is_ok()) return hipErrorOperatingSystem;
  const Deadline deadline = Deadline::after(kAnswerTime);
  if (!parts_.life.wait_until([&] { return parts_.broker->answered() || deadline.passed(); }))
    return hipErrorUnknown;
  if (!parts_.broker->answered()) return hipErrorOperatingSystem;
  const ChannelMessage answer = parts_.broker->take();
  if (!answer.row.known) return hipSuccess;
  session.known = 1;
  session.session = answer.row.session;
  session.client_pid = answer.row.client_pid;
  session.worker_pid = answer.row.worker_pid;
  session.age_ms = answer.row.age_ms;
  static_assert(std::size(decltype(session.memory_bytes){}) == protocol::kDevicesMax);
  std::ranges::copy(answer.row.memory_bytes, session.memory_bytes);
  tf::smi::set_text(session.program, answer.whom);
  tf::smi::set_text(session.peer, answer.row.peer);
  return hipSuccess;
}

}  // namespace tf::worker::smi
