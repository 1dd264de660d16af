// SPDX-License-Identifier: Apache-2.0
// Builds a session's parts, and releases what the client left behind.
#include "worker/session/session_state.h"

#include <algorithm>
#include <utility>

#include "worker/base/notices.h"

namespace tf::worker {

using protocol::HandleKind;

namespace {

bool runs_on_host(const OptionalFunctions& optional) {
  return optional.runs_on_host != nullptr && optional.runs_on_host() != 0;
}

}  // namespace

SessionState::SessionState(SessionSetup setup, Life& session_life)
    : hip(setup.hip),
      empty_heap(setup.optional.empty_heap),
      life(session_life),
      tally(setup.tally != nullptr ? *setup.tally : own_tally),
      bulk(setup.endpoint.bulk(), tally),
      mover(setup.endpoint, life),
      sender(setup.endpoint, setup.output, tally),
      own_calls([this](hipError_t error, hipStream_t stream, int of) {
        // Failures on a stream that the client has destroyed are reported for the null stream.
        const int known = of == OwnCalls::kCurrent ? std::max(device.get(), 0) : of;
        send_fault_of_work(sender, known, error, streams.name_of(stream));
      }),
      share(setup.share != nullptr ? *setup.share : unlimited),
      device(hip, own_calls, setup.snapshot),
      executions(hip, own_calls, device, sender),
      late_fills(hip, own_calls, device, life),
      streams(hip, setup.optional, own_calls, objects, late_fills, device, life),
      host_reach(setup.snapshot, addresses),
      quota(setup.snapshot, &share),
      foreign_quota(setup.snapshot),
      leases(hip, setup.optional, own_calls, setup.snapshot, addresses, {quota, foreign_quota}),
      lease_files(hip, own_calls, std::move(setup.lease_socket)),
      arrays(hip, own_calls, quota),
      textures(hip, setup.optional.surfaces, own_calls, addresses, arrays),
      physical(hip, setup.optional.vmm, own_calls, setup.snapshot, addresses, {quota, foreign_quota}),
      host_parts(hip, own_calls, setup.snapshot, addresses, share),
      host_mirror(runs_on_host(setup.optional)),
      mirror_orders(host_mirror, bulk, mover, life),
      sharing({hip, setup.optional, setup.snapshot, life, device, objects, leases, physical}, setup.broker),
      device_regions(setup.endpoint, own_calls, device, host_reach, setup.optional),
      callbacks(sender),
      modules(hip, own_calls, setup.optional),
      graphs(hip, own_calls, addresses, arrays, host_parts, objects),
      copies(hip, own_calls, bulk, life, mover, arrays,
             runs_on_host(setup.optional) ? DeviceMemory::kOnHost : DeviceMemory::kBehindBus),
      attendant(callbacks, copies),
      direct_copies(
          {hip, own_calls, bulk, life, sender, device, host_reach, device_regions, executions, mover}),
      compiles({hip, setup.optional.rtc, setup.snapshot, bulk, copies, life, mover, sender, share,
                std::move(setup.compilers)}),
      monitor({.hip = hip,
               .snapshot = setup.snapshot,
               .own_calls = own_calls,
               .device = device,
               .share = share,
               .life = life,
               .broker = setup.broker,
               .runs_on_host = runs_on_host(setup.optional)}) {}

// REQUIRES: the session and the mover have ended.
SessionState::~SessionState() {
  own_calls.stop();
  mirror_orders.stop();  // its thread may end the session, which uses the other members
  waiters.stop();        // they use the objects
  release_objects();
}

// Releases what the client left behind, when nothing uses it any more; staging and leases go with the
// members.
void SessionState::release_objects() {
  for (int each = 0; each < device.count(); ++each)
    if (own_calls.keep(device.use(each)) == hipSuccess) own_calls.pass_on(hip.hipDeviceSynchronize());
  executions.release();
  graphs.release();
  streams.release();
  objects.for_each(HandleKind::kStream, [this](std::uint64_t, const Object& object) {
    own_calls.pass_on(hip.hipStreamDestroy(static_cast<hipStream_t>(object.object)));
  });
  objects.for_each(HandleKind::kEvent, [this](std::uint64_t, const Object& object) {
    own_calls.pass_on(hip.hipEventDestroy(static_cast<hipEvent_t>(object.object)));
  });
  objects.for_each(HandleKind::kModule, [this](std::uint64_t, const Object& object) {
    own_calls.pass_on(hip.hipModuleUnload(static_cast<hipModule_t>(object.object)));
  });
  textures.release(device);
  arrays.release(device);
}

}  // namespace tf::worker
