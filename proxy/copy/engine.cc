// SPDX-License-Identifier: Apache-2.0
// The copy engine's only entry: checks, capture, the plan, and its execution.
#include "proxy/copy/engine.h"

#include "hipcore/memory/copy_kind.h"
#include "proxy/copy/bulk.h"
#include "proxy/copy/completion.h"
#include "proxy/copy/in_turn.h"
#include "proxy/copy/mapped.h"
#include "proxy/copy/on_device.h"
#include "proxy/stats/counting.h"

namespace tf::proxy {
namespace {

// For TF_STATS; called when the copy is about to be made.
void count_copy(CopyEngine& engine, const Box& box) {
  const bool to_device = engine.device_memory().is_device(box.target.address);
  const bool from_device = engine.device_memory().is_device(box.source.address);
  if (to_device && !from_device) stats::count_to_device(box.bytes());
  if (from_device && !to_device) stats::count_from_device(box.bytes());
}

// REQUIRES: the plan is ready, and what it must wait for is over.
hipError_t execute(CopyEngine& engine, CopyPlan& plan) {
  switch (plan.carrier) {
    case Carrier::kMapped:
      if (engine.connection().lost()) return kLostError;
      copy_mapped(engine, plan);
      return hipSuccess;
    case Carrier::kInline: return complete(engine, plan, copy_inline(engine.connection(), plan));
    case Carrier::kOnDevice: {
      const Leaves leaves = plan.touches_host ? Leaves::kHostWork : Leaves::kWork;
      return complete(engine, plan, post_on_device(engine.connection(), plan.mode, plan.box, leaves));
    }
    case Carrier::kStaged:
      if (const auto made = engine.staged_copies().copy(plan)) return complete(engine, plan, *made);
      make_bulk(engine, plan);
      break;
    case Carrier::kInTurn: return copy_in_turn(engine.callbacks(), plan);
    case Carrier::kBulk: break;
  }
  const hipError_t made = copy_by_bulk(engine.connection(), engine.callbacks(), plan);
  return complete(engine, plan, made);
}

// Looks at shared memory where the call makes the copy itself and would return with it. Others may wait for
// long, for a host function or a kernel, and sleep meanwhile.
hipError_t wait_for_stream(CopyEngine& engine, const CopyPlan& plan) {
  if (plan.carrier == Carrier::kMapped && plan.mode.wait) return await_stream(engine, plan.mode);
  return engine.connection().synchronize_stream(plan.mode.device, plan.mode.stream);
}

// `asked`: the program's own request, which is what a graph captures.
hipError_t make(CopyEngine& engine, const CopyMode& mode, const Box& asked, const Box& box,
                hipMemcpyKind kind) {
  CopyPlan plan{.mode = mode,
                .box = box,
                .target = engine.host_memory().seen_here(box.target.address),
                .source = engine.host_memory().seen_here(box.source.address)};
  for (BoxSide* const side : {&plan.box.target, &plan.box.source})
    side->address = engine.host_memory().seen_by_devices(side->address, extent(box, *side));
  Route route;
  hipError_t error = find_route(engine, plan.box, route);
  if (error != hipSuccess) return error;
  if (!asked.is_line() && !kind_fits(engine, plan.box, kind)) return hipErrorInvalidValue;
  if (engine.connection().is_capturing()) {
    if (const auto verdict = engine.capture().offer_copy(mode, asked, kind)) return *verdict;
  }
  make_plan(engine, route, plan);
  if (stats::counting()) count_copy(engine, plan.box);
  if (plan.behind_stream) error = wait_for_stream(engine, plan);
  return error != hipSuccess ? error : execute(engine, plan);
}

}  // namespace

bool CopyEngine::pending_work_shows() {
  Streams& streams = connection_.streams();
  if (streams.idle()) return false;
  const bool shows = streams.output().outstanding() || callbacks_.any() ||
                     (memory_.host.any_reached() && streams.pending_work().any_host_work()) ||
                     (!streams.transfers().none_running() && streams.transfers().writes(0, UINT64_MAX));
  return shows && !callbacks_.is_pump();
}

hipError_t copy(CopyEngine& engine, const CopyMode& mode, void* target, const void* source,
                std::uint64_t bytes, hipMemcpyKind kind) {
  if (!hipdata::is_kind(kind)) return hipErrorInvalidMemcpyDirection;
  if (bytes == 0) return hipSuccess;
  if (target == nullptr || source == nullptr) return hipErrorInvalidValue;
  const Box line = graph::line(to_raw(target), to_raw(source), bytes);
  return make(engine, mode, line, line, kind);
}

hipError_t copy_box(CopyEngine& engine, const CopyMode& mode, const Box& box, hipMemcpyKind kind) {
  if (box.is_empty()) return hipSuccess;
  if (box.target.address == 0 || box.source.address == 0) return hipErrorInvalidValue;
  if (!is_valid(box)) return hipErrorInvalidValue;
  return make(engine, mode, box, flattened(box), kind);
}

}  // namespace tf::proxy
