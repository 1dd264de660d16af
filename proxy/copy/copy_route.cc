// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_route.h"

#include "proxy/copy/copy_steps.h"

namespace tf::proxy {
namespace {

using Way = CopyWay;

// What stands at an end of a copy: device memory, host memory that devices reach too, or other memory.
enum class End { kDevice, kReachedHost, kHost };

struct Look {
  End end = End::kHost;
  bool whole = true;  // the copy stays inside one allocation
  bool here = true;   // it is memory of this process too
};

// Host memory first: that an address is not in its window costs a comparison, and where it is, nothing else
// can be.
Look look(CopyEngine& engine, const CopyEnd& at) {
  using Place = DeviceMemory::Place;
  const HostMemory::Reach reach = engine.host_memory().reach_of(at.address, at.bytes);
  if (reach != HostMemory::Reach::kNone) return {End::kReachedHost, reach == HostMemory::Reach::kWhole, true};
  switch (engine.device_memory().place_of(at.address, at.bytes)) {
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

// Host memory that devices reach may go by either name.
hipError_t check_kind(End to, End from, hipMemcpyKind kind) {
  switch (kind) {
    case hipMemcpyHostToHost:
      return to == End::kDevice || from == End::kDevice ? hipErrorInvalidValue : hipSuccess;
    case hipMemcpyHostToDevice: return to != End::kHost ? hipSuccess : hipErrorInvalidValue;
    case hipMemcpyDeviceToHost: return from != End::kHost ? hipSuccess : hipErrorInvalidValue;
    case hipMemcpyDeviceToDevice:
      return to != End::kHost && from != End::kHost ? hipSuccess : hipErrorInvalidValue;
    case hipMemcpyDefault: return hipSuccess;
  }
  return hipErrorInvalidMemcpyDirection;
}

}  // namespace

hipError_t find_route(CopyEngine& engine, const CopyEnd& target, const CopyEnd& source, hipMemcpyKind kind,
                      Route& route) {
  const Look to = look(engine, target);
  const Look from = look(engine, source);
  if (!to.whole || !from.whole) return hipErrorInvalidValue;
  const bool among_devices = to.end == End::kDevice && from.end == End::kDevice;
  const bool among_hosts = to.end == End::kReachedHost && from.end == End::kReachedHost;
  route = {way_between(to.end, from.end), to.here && from.here && !among_devices, among_hosts};
  return check_kind(to.end, from.end, kind);
}

CopyWay way_between(CopyEngine& engine, std::uint64_t target, std::uint64_t source) {
  return way_between(look(engine, {target, 1}).end, look(engine, {source, 1}).end);
}

hipError_t copy_way(CopyEngine& engine, const Box& box, hipMemcpyKind kind, CopyWay& way) {
  Route route;
  const hipError_t error = find_route(engine, {box.target.address, extent(box, box.target)},
                                      {box.source.address, extent(box, box.source)}, kind, route);
  way = route.way;
  return error;
}

bool may_return_early(CopyEngine& engine, const CopyMode& mode, const CopyEnd& host) {
  return !mode.wait && engine.host_memory().contains(reinterpret_cast<const void*>(host.address), host.bytes);
}

bool staging_would_wait(CopyEngine& engine, const CopyMode& mode, const CopyEnd& source, std::uint64_t bytes,
                        std::uint64_t staged_max) {
  return bytes > staged_max && !engine.streams().pending_work().idle() &&
         may_return_early(engine, mode, source);
}

CopyMode ruled(CopyEngine& engine, const CopyMode& mode, Route& route, const CopyEnd& target) {
  CopyMode made = mode;
  if (route.way == Way::kFromDevice) made.wait = !may_return_early(engine, mode, target);
  if (route.among_hosts) route.way = Way::kOnHost;
  return made;
}

std::optional<hipError_t> turn_here(CopyEngine& engine, const CopyMode& mode, const Route& route,
                                    std::uint64_t bytes) {
  if (!route.here) return std::nullopt;
  if (engine.streams().pending_work().idle()) {
    if (engine.connection().lost()) return kLostError;
    // A call that need not wait does not keep its caller for longer than a message would.
    const bool pageable = route.way == Way::kToDevice || route.way == Way::kFromDevice;
    if (mode.wait || pageable || bytes <= kBriefCopyBytesMax) return hipSuccess;
    return std::nullopt;
  }
  if (!mode.wait || (route.way == Way::kToDevice && bytes <= kPostedCopyBytesMax)) return std::nullopt;
  return await_stream(engine, mode);
}

}  // namespace tf::proxy
