// SPDX-License-Identifier: Apache-2.0
// What devices can do with each other, from the snapshot.
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

const protocol::PeerLink* link_between(int from, int to, hipError_t& error) {
  Client* client = client_for(error);
  if (client == nullptr) return nullptr;
  int count = client->device_count();
  if (from < 0 || from >= count || to < 0 || to >= count) {
    error = hipErrorInvalidDevice;
    return nullptr;
  }
  return &client->snapshot().peer(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
}

}  // namespace

hipError_t hipDeviceCanAccessPeer(int* can_access, int device, int peer_device) {
  if (can_access == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  const protocol::PeerLink* link = link_between(device, peer_device, error);
  if (link == nullptr) return note_error(error);
  *can_access = device == peer_device ? 0 : link->can_access;
  return note_error(hipSuccess);
}

hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int source_device,
                                    int target_device) {
  if (value == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  const protocol::PeerLink* link = link_between(source_device, target_device, error);
  if (link == nullptr) return note_error(error);
  if (source_device == target_device) return note_error(hipErrorInvalidDevice);
  switch (attribute) {
    case hipDevP2PAttrPerformanceRank: *value = link->performance_rank; break;
    case hipDevP2PAttrAccessSupported: *value = link->can_access; break;
    case hipDevP2PAttrNativeAtomicSupported: *value = link->native_atomics; break;
    case hipDevP2PAttrHipArrayAccessSupported: *value = link->array_access; break;
    default: return note_error(hipErrorInvalidValue);
  }
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local
