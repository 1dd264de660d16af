// SPDX-License-Identifier: Apache-2.0
// Adapts the snapshot to what this program may see and use.
#include "proxy/session/device_view.h"

#include <hip/hip_runtime_api.h>

#include <string>
#include <utility>

#include "proxy/base/log.h"

namespace tf::proxy {
namespace {

using protocol::HostAccess;

// What a kind of host access allows.
struct Allowed {
  bool pinned = false;      // kernels follow pointers to hipHostMalloc's memory
  bool managed = false;     // hipMallocManaged
  bool concurrent = false;  // ... which host and device may use at the same time
};

Allowed allowed(HostAccess access, bool mirrors_pinned) {
  switch (access) {
    case HostAccess::kShared: return {true, true, true};
    case HostAccess::kMirrored: return {mirrors_pinned, true, false};
    case HostAccess::kNone: break;
  }
  return {};
}

// Whether the attribute keeps the runtime's value. Pages that no HIP function allocated are never reached,
// registered or not.
bool stays(std::int32_t attribute, const Allowed& may) {
  switch (attribute) {
    case hipDeviceAttributeCanMapHostMemory: return may.pinned;
    case hipDeviceAttributeManagedMemory: return may.managed;
    case hipDeviceAttributeHostNativeAtomicSupported:
    case hipDeviceAttributeDirectManagedMemAccessFromHost:
    case hipDeviceAttributeConcurrentManagedAccess: return may.concurrent;
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
    case hipDeviceAttributePageableMemoryAccess:
    case hipDeviceAttributePageableMemoryAccessUsesHostPageTables: return false;
    default: return true;
  }
}

}  // namespace

std::vector<int> seen_devices(const protocol::WorkerSnapshot& snapshot, int only,
                              const hipcore::VisibleDevices& visible) {
  const int count = static_cast<int>(snapshot.devices.size());
  if (only >= count) {
    log_line("TF_DEVICE_ID=" + std::to_string(only) + ": the worker has " + std::to_string(count) +
             " device(s); the program sees none");
    return {};
  }
  std::vector<int> offered;
  for (int device = 0; device < count; ++device)
    if (only < 0 || device == only) offered.push_back(device);
  std::vector<std::string> uuids;
  for (const int device : offered)
    uuids.push_back(hipcore::uuid_text(snapshot.devices[static_cast<std::size_t>(device)].properties.uuid));
  std::vector<int> seen;
  for (const std::size_t chosen : hipcore::choose_visible(visible, uuids)) seen.push_back(offered[chosen]);
  return seen;
}

protocol::WorkerSnapshot keep_devices(protocol::WorkerSnapshot snapshot, std::span<const int> devices) {
  std::vector<protocol::DeviceSnapshot> kept;
  std::vector<protocol::PeerLink> peers;
  for (const int from : devices)
    for (const int to : devices)
      peers.push_back(snapshot.peer(static_cast<std::size_t>(from), static_cast<std::size_t>(to)));
  for (const int device : devices)
    kept.push_back(std::move(snapshot.devices[static_cast<std::size_t>(device)]));
  snapshot.devices = std::move(kept);
  snapshot.peers = std::move(peers);
  return snapshot;
}

void describe_host_access(protocol::WorkerSnapshot& snapshot, bool mirrors_pinned) {
  const Allowed may = allowed(snapshot.host_access, mirrors_pinned);
  for (protocol::DeviceSnapshot& device : snapshot.devices) {
    protocol::DeviceProperties& properties = device.properties;
    if (!may.pinned) properties.can_map_host_memory = 0;
    if (!may.managed) properties.managed_memory = 0;
    if (!may.concurrent) {
      properties.direct_managed_mem_access_from_host = 0;
      properties.concurrent_managed_access = 0;
    }
    properties.pageable_memory_access = 0;
    properties.pageable_memory_access_uses_host_page_tables = 0;
    for (protocol::AttributeValue& known : device.attributes)
      if (!stays(known.attribute, may)) known.value = 0;
  }
}

void describe_device_access(protocol::WorkerSnapshot& snapshot) {
  if (snapshot.device_access != protocol::DeviceAccess::kNone) return;
  for (protocol::DeviceSnapshot& device : snapshot.devices) {
    device.properties.is_large_bar = 0;
    for (protocol::AttributeValue& known : device.attributes)
      if (known.attribute == hipDeviceAttributeIsLargeBar) known.value = 0;
  }
}

}  // namespace tf::proxy
