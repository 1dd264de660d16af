// SPDX-License-Identifier: Apache-2.0
// Pools whose memory other processes open: a descriptor names the pool, export data one of its pointers.
#include <cstring>

#include "hipcore/memory/os_handle.h"
#include "proxy/exported/sharing.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

bool names_descriptor(hipMemAllocationHandleType type, unsigned int flags) {
  return type == hipMemHandleTypePosixFileDescriptor && flags == 0;
}

}  // namespace

hipError_t hipMemPoolExportToShareableHandle(ApiCall& call, void* target, hipMemPool_t pool,
                                             hipMemAllocationHandleType type, unsigned int flags) {
  if (target == nullptr || pool == nullptr || !names_descriptor(type, flags))
    return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  const auto facts = client.pools().find(to_raw(pool));
  if (facts == nullptr || !facts->is_shareable) return call.finish(hipErrorInvalidValue);
  net::OwnedFd file = make_pool_file(client.connection().worker_ordinal(facts->device));
  if (!file) return call.finish(hipErrorOutOfMemory);
  const int descriptor = file.release();  // the program owns it from now on
  std::memcpy(target, &descriptor, sizeof descriptor);
  return call.finish(hipSuccess);
}

hipError_t hipMemPoolImportFromShareableHandle(ApiCall& call, hipMemPool_t* pool, void* os_handle,
                                               hipMemAllocationHandleType type, unsigned int flags) {
  if (pool == nullptr || os_handle == nullptr || !names_descriptor(type, flags))
    return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  const auto counted = read_pool_file(hipcore::descriptor_in(os_handle));
  const int device = counted ? client.connection().own_ordinal(*counted) : -1;
  if (device < 0 || device >= client.device_count()) return call.finish(hipErrorInvalidValue);
  const std::uint64_t raw = client.pools().create(device, Pools::Kind::kImported);
  if (raw == 0) return call.finish(hipErrorOutOfMemory);
  *pool = static_cast<hipMemPool_t>(to_pointer(protocol::Handle(raw)));
  return call.finish(hipSuccess);
}

hipError_t hipMemPoolExportPointer(ApiCall& call, hipMemPoolPtrExportData* data, void* pointer) {
  if (data == nullptr || pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  const auto found = client.device_memory().find_block(to_raw(pointer));
  if (!found || !client.pools().may_share(found->base)) return call.finish(hipErrorInvalidValue);
  hipIpcMemHandle_t handle{};
  const hipError_t error = share_memory(client, *found, pointer, handle);
  if (error == hipSuccess) std::memcpy(data->reserved, handle.reserved, sizeof data->reserved);
  return call.finish(error);
}

hipError_t hipMemPoolImportPointer(ApiCall& call, void** pointer, hipMemPool_t pool,
                                   hipMemPoolPtrExportData* data) {
  if (pointer == nullptr || pool == nullptr || data == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  const auto facts = client.pools().find(to_raw(pool));
  hipIpcMemHandle_t handle{};
  std::memcpy(handle.reserved, data->reserved, sizeof data->reserved);
  const auto ticket = read_handle(handle);
  if (facts == nullptr || !facts->is_imported || !ticket) return call.finish(hipErrorInvalidValue);
  const hipError_t error = open_shared(call, *ticket, SharedMemory::Way::kPool, pointer);
  return call.finish(error == hipErrorInvalidDevicePointer ? hipErrorInvalidValue : error);
}

}  // namespace tf::proxy::custom
