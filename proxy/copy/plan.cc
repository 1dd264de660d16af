// SPDX-License-Identifier: Apache-2.0
// The copy engine's decisions. Nothing here sends, copies or waits.
#include "proxy/copy/plan.h"

#include "hipcore/memory/copy_kind.h"
#include "proxy/copy/engine.h"
#include "proxy/copy/staged.h"

namespace tf::proxy {
namespace {

using Way = CopyWay;

// The memory at one end of a copy: device memory, host memory that devices reach too, or other memory.
enum class End { kDevice, kReachedHost, kHost };

struct EndFacts {
  End end = End::kHost;
  bool whole = true;  // the copy stays inside one allocation
  bool here = true;   // it is also memory of this process
};

// Host memory first: ruling out its window costs one comparison, and an address in the window can be nothing
// else.
EndFacts facts_of(CopyEngine& engine, std::uint64_t address, std::uint64_t bytes) {
  using Place = DeviceMemory::Place;
  const HostMemory::Reach reach = engine.host_memory().reach_of(address, bytes);
  if (reach != HostMemory::Reach::kNone) return {End::kReachedHost, reach == HostMemory::Reach::kWhole, true};
  switch (engine.device_memory().place_of(address, bytes)) {
    case Place::kLease: return {End::kDevice, true, engine.lease_mappings().complete()};
    case Place::kOther: return {End::kDevice, true, false};
    case Place::kBeyond: return {End::kDevice, false, false};
    case Place::kNone: break;
  }
  return {};
}

// With memory that only the client has on one side and host memory on the other, the client makes the copy.
Way way_between(End to, End from) {
  if (to != End::kHost && from != End::kHost) return Way::kOnDevice;
  if (to == End::kDevice) return Way::kToDevice;
  return from == End::kDevice ? Way::kFromDevice : Way::kOnHost;
}

// The host's end of a copy that has payload.
const BoxSide& host_side(const CopyPlan& plan) {
  return plan.way == Way::kToDevice ? plan.box.source : plan.box.target;
}

bool may_return_early(CopyEngine& engine, const CopyPlan& plan) {
  const BoxSide& host = host_side(plan);
  return may_return_early(engine, plan.mode, host.address, extent(plan.box, host));
}

// Whether the caller makes the copy. If the call waits anyhow, it waits for the stream's earlier work. Copies
// to the device that a program may make while it keeps a stream busy are left to that stream. A copy between
// host memory is always made here, after its stream: the runtimes of CUDA and AMD finish the stream in the
// thread that asks (docs/copy-semantics.md). At the worker that would be the executor, and a host function in
// front of the copy ends only when the executor has heard of it.
bool is_callers(CopyEngine& engine, const Route& route, CopyPlan& plan) {
  if (!route.mapped) return false;
  const bool on_host = plan.way == Way::kOnHost;
  const CopyMode& mode = plan.mode;
  const std::uint64_t bytes = plan.box.bytes();
  if (engine.streams().idle()) {
    // A call that need not wait does not hold its caller longer than a message would.
    const bool pageable = plan.way == Way::kToDevice || plan.way == Way::kFromDevice;
    if (mode.wait || pageable || bytes <= kBriefCopyBytesMax) return true;
  } else if (mode.wait && (plan.way != Way::kToDevice || plan.shows_work || bytes > kPostedCopyBytesMax)) {
    plan.behind_stream = true;
    return true;
  }
  plan.behind_stream = on_host;
  return on_host;
}

// Whether mirrored memory is read now, into a message: a few bytes, and nothing that is pending may write
// them. A wait for the stream then shows nothing (Streams::only_arrivals()). In a shared window the device
// fetches them faster than the ring brings them (4 KiB on an H200: 8 us, not 12), and a wait costs little.
bool may_read_now(CopyEngine& engine, const Route& route, const CopyPlan& plan) {
  const bool few = plan.box.is_line() && plan.box.width <= engine.connection().inline_payload_bytes();
  const bool is_mirrored = engine.host_window().access() == protocol::HostAccess::kMirrored;
  return route.brings_in && few && is_mirrored && !engine.streams().pending_work().any_host_work() &&
         !engine.callbacks().any_function() && engine.streams().transfers().none_running();
}

// Whether the payload may be written until the stream gets there (in_turn.h). Two loads if nothing is
// pending.
bool waits_for_turn(CopyEngine& engine, const CopyPlan& plan) {
  if (plan.mode.wait || plan.way != Way::kToDevice) return false;
  const bool has_functions = engine.callbacks().any_function();
  if (!has_functions && engine.streams().transfers().none_running()) return false;
  const BoxSide& host = host_side(plan);
  const bool may_be_written =
      has_functions || engine.streams().transfers().writes(host.address, extent(plan.box, host));
  return may_be_written && may_return_early(engine, plan);
}

// Whether staging buffers would delay a call that may return early: a stream with earlier work does not empty
// them. Pieces of rows may fill several buffers with fewer bytes than those hold.
bool staging_would_wait(CopyEngine& engine, const CopyPlan& plan) {
  const std::uint64_t staged_max = plan.box.is_line() ? kStagingBytes : kStagingChunkBytes;
  return plan.box.bytes() > staged_max && !engine.streams().pending_work().idle() &&
         may_return_early(engine, plan);
}

bool may_stage(CopyEngine& engine, const CopyPlan& plan) {
  if (engine.host_window().access() != protocol::HostAccess::kShared) return false;
  return plan.way == Way::kToDevice ? !staging_would_wait(engine, plan) : plan.mode.wait;
}

void choose_carrier(CopyEngine& engine, CopyPlan& plan) {
  const bool line = plan.box.is_line();
  // Rows for which there is no memory are unpacked as they arrive.
  if (plan.way == Way::kFromDevice && !line && plan.box.bytes() > kTransferBytesMax) plan.mode.wait = true;
  if (plan.way == Way::kToDevice && line && plan.box.width <= engine.connection().inline_payload_bytes())
    plan.carrier = Carrier::kInline;
  else if (may_stage(engine, plan))
    plan.carrier = Carrier::kStaged;
  else
    make_bulk(engine, plan);
}

}  // namespace

hipError_t find_route(CopyEngine& engine, const Box& box, Route& route) {
  const EndFacts to = facts_of(engine, box.target.address, extent(box, box.target));
  const EndFacts from = facts_of(engine, box.source.address, extent(box, box.source));
  if (!to.whole || !from.whole) return hipErrorInvalidValue;
  const bool among_devices = to.end == End::kDevice && from.end == End::kDevice;
  const bool among_hosts = to.end == End::kReachedHost && from.end == End::kReachedHost;
  const bool touches_host = to.end == End::kReachedHost || from.end == End::kReachedHost;
  route = {way_between(to.end, from.end), to.here && from.here && !among_devices, among_hosts, touches_host,
           to.end == End::kDevice && from.end == End::kReachedHost};
  return hipSuccess;
}

bool kind_fits(CopyEngine& engine, const Box& box, hipMemcpyKind kind) {
  const auto is_known = [&engine](std::uint64_t address) {
    return engine.device_memory().place_of(address, 1) != DeviceMemory::Place::kNone ||
           engine.host_memory().find(reinterpret_cast<const void*>(address));
  };
  return hipdata::kind_fits(box.target.address, box.source.address, kind, is_known);
}

CopyWay graph_way_between(CopyEngine& engine, std::uint64_t target, std::uint64_t source) {
  const HostMemory& host = engine.host_memory();
  const bool all_mirrored = engine.host_window().access() == protocol::HostAccess::kMirrored;
  // Registered private memory is mirrored beside a shared window, too: at an address of its own.
  const auto is_mirrored = [&](std::uint64_t address) {
    const std::uint64_t there = host.will_be_seen_by_devices(address, 1);
    return host.could_reach(there, 1) && (all_mirrored || host.seen_here(there) != there);
  };
  const auto end = [&](std::uint64_t address) {
    const End found = facts_of(engine, address, 1).end;
    return found == End::kReachedHost && is_mirrored(address) ? End::kDevice : found;
  };
  const Way way = way_between(end(target), end(source));
  // What a host function copies into mirrored memory travels with the next launch, too late for the nodes
  // behind it. So the launch makes these copies itself.
  if (way != Way::kOnHost) return way;
  if (is_mirrored(target)) return Way::kToDevice;
  return is_mirrored(source) ? Way::kFromDevice : way;
}

bool may_return_early(CopyEngine& engine, const CopyMode& mode, std::uint64_t host, std::uint64_t bytes) {
  return !mode.wait && engine.host_memory().contains(reinterpret_cast<const void*>(host), bytes);
}

void make_bulk(CopyEngine& engine, CopyPlan& plan) {
  plan.carrier = Carrier::kBulk;
  plan.early = plan.way == Way::kFromDevice ? !plan.mode.wait : may_return_early(engine, plan);
}

void make_plan(CopyEngine& engine, const Route& route, CopyPlan& plan) {
  plan.way = route.among_hosts ? Way::kOnHost : route.way;
  plan.touches_host = route.touches_host;
  if (plan.way == Way::kFromDevice) plan.mode.wait = !may_return_early(engine, plan);
  if (plan.way == Way::kToDevice) plan.shows_work = plan.mode.wait && engine.pending_work_shows();
  if (is_callers(engine, route, plan)) return;
  if (may_read_now(engine, route, plan)) {
    plan.way = Way::kToDevice;
    plan.touches_host = false;
    plan.carrier = Carrier::kInline;
  } else if (plan.way == Way::kOnDevice) {
    plan.carrier = Carrier::kOnDevice;
  } else if (waits_for_turn(engine, plan)) {
    plan.carrier = Carrier::kInTurn;
  } else {
    choose_carrier(engine, plan);
  }
}

}  // namespace tf::proxy
