// SPDX-License-Identifier: Apache-2.0
// Access between devices. All memory is one here; what is kept is what the program said.
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

constexpr std::uint32_t kLinkTypePci = 2;

hipError_t can_access(int* answer, int device, int peer) {
  if (!answer) return hipErrorInvalidValue;
  const Runtime& runtime = Runtime::get();
  if (!runtime.valid_device(device) || !runtime.valid_device(peer)) return hipErrorInvalidDevice;
  *answer = device != peer;
  return hipSuccess;
}

hipError_t check_peer(int peer) {
  if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
  return Runtime::get().valid_device(peer) && peer != thread_state().device ? hipSuccess
                                                                            : hipErrorInvalidDevice;
}

hipError_t enable(int peer, unsigned flags) {
  if (flags != 0) return hipErrorInvalidValue;
  if (const hipError_t status = check_peer(peer)) return status;
  const std::uint32_t bit = 1u << peer;
  const std::uint32_t before = current_device().peers_enabled.fetch_or(bit, std::memory_order_relaxed);
  return before & bit ? hipErrorPeerAccessAlreadyEnabled : hipSuccess;
}

hipError_t disable(int peer) {
  if (const hipError_t status = check_peer(peer)) return status;
  const std::uint32_t bit = 1u << peer;
  const std::uint32_t before = current_device().peers_enabled.fetch_and(~bit, std::memory_order_relaxed);
  return before & bit ? hipSuccess : hipErrorPeerAccessNotEnabled;
}

int ordinal_of(hipCtx_t context) {
  for (int ordinal = 0; ordinal < Runtime::get().device_count(); ++ordinal)
    if (reinterpret_cast<hipCtx_t>(&Runtime::get().device(ordinal)) == context) return ordinal;
  return -1;
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipDeviceCanAccessPeer(int* answer, int device, int peer) {
  return api([&] { return can_access(answer, device, peer); });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api([&] { return enable(peer, flags); });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  return api([&] { return disable(peer); });
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags) {
  return api([&] { return enable(ordinal_of(peer), flags); });
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  return api([&] { return disable(ordinal_of(peer)); });
}

hipError_t hipExtGetLinkTypeAndHopCount(int first, int second, uint32_t* type, uint32_t* hops) {
  return api([&] {
    const Runtime& runtime = Runtime::get();
    if (!type || !hops || first == second) return hipErrorInvalidValue;
    if (!runtime.valid_device(first) || !runtime.valid_device(second)) return hipErrorInvalidDevice;
    *type = kLinkTypePci;
    *hops = 1;
    return hipSuccess;
  });
}

}  // extern "C"
