// SPDX-License-Identifier: Apache-2.0
// Decides whether a call waits for its copy.
#include "proxy/copy/completion.h"

#include "proxy/copy/engine.h"

namespace tf::proxy {
namespace {

// A synchronous copy is done when it returns. Streams that do not order themselves after the null stream
// could tell the difference, and processes that share the memory; without any of those it may stay posted.
bool may_stay_posted(CopyEngine& engine, const CopyMode& mode) {
  return mode.stream == 0 && !engine.streams().has_unordered() && !engine.connection().is_sharing();
}

// Both ends are memory of the device that makes the copy. Else streams of another device use it, which are
// not ordered behind the copy.
bool is_of_one_device(CopyEngine& engine, const CopyPlan& plan) {
  if (engine.connection().device_count() == 1) return true;
  const auto is_here = [&](const BoxSide& side) {
    const auto found = engine.device_memory().find(side.address);
    return found && found->device == plan.mode.device;
  };
  return is_here(plan.box.target) && is_here(plan.box.source);
}

hipError_t complete_on_device(CopyEngine& engine, const CopyPlan& plan) {
  // A copy that reads or writes host memory is done when a synchronous call returns.
  if (plan.touches_host) return await_stream(engine, plan.mode);
  if (!may_stay_posted(engine, plan.mode) || !is_of_one_device(engine, plan))
    return engine.connection().synchronize_stream(plan.mode.device, plan.mode.stream);
  engine.streams().leave_copy(plan.mode.device);
  return hipSuccess;
}

}  // namespace

hipError_t await_stream(CopyEngine& engine, const CopyMode& mode) {
  StreamWords& words = engine.stream_words();
  if (engine.streams().quiet() || engine.streams().output().outstanding() || !words.ready())
    return engine.connection().synchronize_stream(mode.device, mode.stream);
  return engine.connection().synchronize_stream(mode.device, mode.stream, [&] {
    if (const auto waited = words.wait(mode)) return *waited;
    protocol::SynchronizeStreamRequest request{};
    request.stream = mode.stream;
    return engine.connection().call(mode.device, request);
  });
}

bool may_leave_wait(CopyEngine& engine, int device, std::uint64_t stream) {
  const Connection& connection = engine.connection();
  // Device memory that is mapped here is the program's to look at.
  return !engine.streams().quiet() && !connection.is_capturing() && !connection.is_sharing() &&
         !engine.lease_mappings().complete() && engine.streams().only_arrivals(device, stream);
}

hipError_t complete(CopyEngine& engine, const CopyPlan& plan, hipError_t made) {
  const CopyMode& mode = plan.mode;
  if (plan.way == CopyWay::kFromDevice) {
    if (plan.early || made == kLostError) return made;
    if (made == hipSuccess && engine.streams().output().outstanding())
      return engine.connection().synchronize_stream(mode.device, mode.stream);
    return engine.connection().synchronized_stream(mode.device, mode.stream, made);
  }
  if (made != hipSuccess || !mode.wait) return made;
  if (plan.way == CopyWay::kOnDevice) return complete_on_device(engine, plan);
  // Natively a synchronous copy to the device waits for what is before it.
  if (plan.shows_work || !may_stay_posted(engine, mode)) {
    if (may_leave_wait(engine, mode.device, mode.stream))
      return engine.connection().leave_wait(mode.device, mode.stream);
    return engine.connection().synchronize_stream(mode.device, mode.stream);
  }
  engine.streams().owe_wait(mode.device);
  return hipSuccess;
}

}  // namespace tf::proxy
