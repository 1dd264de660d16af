// SPDX-License-Identifier: Apache-2.0
// Access between devices.
#include "worker/runtime/common/device.h"

namespace tf::runtime {
namespace {

hipError_t check_pair(int first, int second) {
  return valid_device(first) && valid_device(second) ? hipSuccess : hipErrorInvalidDevice;
}

hipError_t can_access(int* answer, int device, int peer) {
  if (!answer) return hipErrorInvalidValue;
  if (const hipError_t status = check_pair(device, peer)) return status;
  *answer = 0;
  return device == peer ? hipSuccess : Backend::can_access_peer(device, peer, *answer);
}

hipError_t check_peer(int peer) {
  if (const hipError_t status = Backend::require_device()) return status;
  return valid_device(peer) && peer != thread().device ? hipSuccess : hipErrorInvalidDevice;
}

hipError_t enable(int peer, unsigned flags) {
  if (flags != 0) return hipErrorInvalidValue;
  const hipError_t status = check_peer(peer);
  return status == hipSuccess ? Backend::enable_peer(peer) : status;
}

hipError_t disable(int peer) {
  const hipError_t status = check_peer(peer);
  return status == hipSuccess ? Backend::disable_peer(peer) : status;
}

hipError_t link_between(int first, int second, std::uint32_t* type, std::uint32_t* hops) {
  if (!type || !hops || first == second || first < 0 || second < 0) return hipErrorInvalidValue;
  if (const hipError_t status = check_pair(first, second)) return status;
  *type = static_cast<std::uint32_t>(Backend::link_type(first, second));
  *hops = 1;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipDeviceCanAccessPeer(int* answer, int device, int peer) {
  return host_api([&] { return can_access(answer, device, peer); });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api([&] { return enable(peer, flags); });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  return api([&] { return disable(peer); });
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags) {
  return api([&] { return enable(Backend::ordinal_of(peer), flags); });
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  return api([&] { return disable(Backend::ordinal_of(peer)); });
}

hipError_t hipExtGetLinkTypeAndHopCount(int first, int second, uint32_t* type, uint32_t* hops) {
  return host_api([&] { return link_between(first, second, type, hops); });
}

}  // extern "C"
