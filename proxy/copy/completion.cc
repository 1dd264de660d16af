// SPDX-License-Identifier: Apache-2.0
// Decides whether a call waits for its copy.
#include "proxy/copy/completion.h"

#include "proxy/copy/engine.h"

namespace tf::proxy {
namespace {

// A synchronous copy is done when it returns. Only streams that do not order themselves after the null stream
// could tell the difference, and processes that share the memory; without any of those it stays posted.
bool may_stay_posted(CopyEngine& engine, const CopyMode& mode) {
  return mode.stream == 0 && !engine.streams().has_unordered() && !engine.connection().is_sharing();
}

hipError_t complete_on_device(CopyEngine& engine, const CopyPlan& plan) {
  const HostMemory& host = engine.host_memory();
  // A copy that reads or writes host memory is done when a synchronous call returns.
  if (host.reaches(plan.box.target.address, 1) || host.reaches(plan.box.source.address, 1))
    return await_stream(engine, plan.mode);
  if (may_stay_posted(engine, plan.mode)) return hipSuccess;
  return engine.connection().synchronize_stream(plan.mode.device, plan.mode.stream);
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
  if (may_stay_posted(engine, mode)) return hipSuccess;
  return engine.connection().synchronize_stream(mode.device, mode.stream);
}

}  // namespace tf::proxy
