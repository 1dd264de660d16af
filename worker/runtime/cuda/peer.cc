// SPDX-License-Identifier: Apache-2.0
// Access between devices.
#include "worker/runtime/cuda/api.h"

namespace tf::cuda {
namespace {

constexpr std::uint32_t kLinkTypePci = 2;   // HSA's numbers, which HIP hands on
constexpr std::uint32_t kLinkTypeXgmi = 4;  // what AMD calls its NVLink

hipError_t check_pair(int first, int second) {
  const Runtime& runtime = Runtime::get();
  return runtime.valid_device(first) && runtime.valid_device(second) ? hipSuccess : hipErrorInvalidDevice;
}

hipError_t p2p_attribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  if (!value) return hipErrorInvalidValue;
  if (from == to || check_pair(from, to) != hipSuccess) return hipErrorInvalidDevice;
  if (attribute > hipDevP2PAttrHipArrayAccessSupported) return hipErrorInvalidValue;
  Runtime& runtime = Runtime::get();
  return check(cu().DeviceGetP2PAttribute(value, static_cast<int>(attribute) + 1,  // CUDA counts from 1
                                          runtime.device(from).handle, runtime.device(to).handle));
}

hipError_t with_peer(int peer, bool enable) {
  if (!Runtime::get().valid_device(peer) || peer == thread_state().device) return hipErrorInvalidDevice;
  driver::Context context = nullptr;
  if (const hipError_t status = Runtime::get().context(peer, context)) return status;
  return check(enable ? cu().CtxEnablePeerAccess(context, 0) : cu().CtxDisablePeerAccess(context));
}

hipError_t link_between(int first, int second, std::uint32_t* type, std::uint32_t* hops) {
  if (!type || !hops || first == second) return hipErrorInvalidValue;
  if (const hipError_t status = check_pair(first, second)) return status;
  int native_atomics = 0;
  static_cast<void>(p2p_attribute(&native_atomics, hipDevP2PAttrNativeAtomicSupported, first, second));
  *type = native_atomics ? kLinkTypeXgmi : kLinkTypePci;
  *hops = 1;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipDeviceCanAccessPeer(int* answer, int device, int peer) {
  return host_api([&] {
    if (!answer) return hipErrorInvalidValue;
    if (const hipError_t status = check_pair(device, peer)) return status;
    *answer = 0;
    if (device == peer) return hipSuccess;
    Runtime& runtime = Runtime::get();
    return check(
        cu().DeviceCanAccessPeer(answer, runtime.device(device).handle, runtime.device(peer).handle));
  });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api([&] { return flags == 0 ? with_peer(peer, true) : hipErrorInvalidValue; });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  return api([&] { return with_peer(peer, false); });
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags) {
  return api(
      [&] { return flags == 0 ? with_peer(Runtime::get().ordinal_of(peer), true) : hipErrorInvalidValue; });
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  return api([&] { return with_peer(Runtime::get().ordinal_of(peer), false); });
}

hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  return host_api([&] { return p2p_attribute(value, attribute, from, to); });
}

hipError_t hipExtGetLinkTypeAndHopCount(int first, int second, uint32_t* type, uint32_t* hops) {
  return host_api([&] { return link_between(first, second, type, hops); });
}

}  // extern "C"
