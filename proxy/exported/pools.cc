// SPDX-License-Identifier: Apache-2.0
// Memory pools: stream-ordered allocation and the pools' settings. Answered here, except for the first query
// of a device's default pool, and for streams on which memory was freed before a pool is trimmed.
#include <memory>
#include <span>

#include "hipcore/abi/pool_limit.h"
#include "hipcore/abi/rules.h"
#include "proxy/exported/sharing.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {

using protocol::HandleKind;

namespace {

hipMemPool_t pool_of(std::uint64_t raw) {
  return static_cast<hipMemPool_t>(to_pointer(protocol::Handle(raw)));
}

bool valid_device(ApiCall& call, int device) { return device >= 0 && device < call.client().device_count(); }

// The device whose default pool this is; -1: it is not a default pool.
int default_pool_device(Client& client, std::uint64_t pool) {
  for (int device = 0; device < client.device_count(); ++device) {
    protocol::DeviceGetDefaultMemPoolRequest request{};
    request.device = client.connection().worker_ordinal(device);
    std::uint64_t made = 0;
    bool known = client.created().find(protocol::DeviceGetDefaultMemPoolRequest::kOp,
                                       ReplyCache::kEveryDevice, std::as_bytes(std::span(&request, 1)),
                                       std::as_writable_bytes(std::span(&made, 1)));
    if (known && made == pool) return device;
  }
  return -1;
}

// Null: no such pool.
std::shared_ptr<PoolFacts> find_pool(ApiCall& call, std::uint64_t raw) {
  Client& client = call.client();
  auto facts = client.pools().find(raw);
  if (facts != nullptr) return facts;
  int device = default_pool_device(client, raw);
  return device < 0 ? nullptr : client.pools().enter(raw, device);
}

std::shared_ptr<PoolFacts> find_pool(ApiCall& call, hipMemPool_t pool) {
  return find_pool(call, to_raw(pool));
}

// 0: failed, and `error` says why.
std::uint64_t default_pool(ApiCall& call, int device, hipError_t& error) {
  protocol::DeviceGetDefaultMemPoolRequest request{};
  void* value = nullptr;
  error = hipErrorInvalidDevice;
  if (!call.ordinal(device, request.device)) return 0;
  error = call.create_once(HandleKind::kMemPool, request, request.pool, value);
  return error == hipSuccess ? request.pool : 0;
}

std::uint64_t current_pool(ApiCall& call, int device, hipError_t& error) {
  std::uint64_t pool = call.client().pools().current(device);
  return pool != 0 ? pool : default_pool(call, device, error);
}

PoolOrder order_of(ApiCall& call, std::uint64_t stream) {
  return {call.client().streams().device_of(call.device(), stream), stream};
}

// Asks the worker where nobody here knows.
bool has_reached(Client& client, const PoolOrder& freed) {
  if (client.streams().idle()) return true;
  if (freed.stream != 0 && !client.handles().of(HandleKind::kStream).contains(freed.stream)) return false;
  protocol::QueryStreamRequest request{};
  request.stream = freed.stream;
  const hipError_t state = client.connection().call(freed.device, request);
  return state != hipErrorNotReady;  // on a failed device nothing runs any more
}

// These functions have a code of their own for what is no stream. True, or the call has ended with `error`.
bool find_stream(ApiCall& call, hipStream_t stream, std::uint64_t& handle, hipError_t& error) {
  if (call.translate(HandleKind::kStream, stream, handle)) return true;
  error = call.finish();
  if (error == hipErrorContextIsDestroyed) error = call.finish(hipErrorInvalidHandle);
  return false;
}

hipError_t allocate(ApiCall& call, void** pointer, std::size_t bytes, std::shared_ptr<PoolFacts> pool,
                    hipStream_t stream) {
  Client& client = call.client();
  if (pointer == nullptr) return call.finish(hipErrorInvalidValue);
  std::uint64_t handle = 0;
  hipError_t error = hipSuccess;
  if (!find_stream(call, stream, handle, error)) return error;
  *pointer = nullptr;
  if (bytes == 0) return call.finish(hipSuccess);
  int device = client.streams().device_of(call.device(), handle);
  if (Graphs& graphs = client.graphs(); graphs.capturing()) {
    const auto verdict = graphs.library().capture_allocation(
        graphs.reference(call.device(), handle), pool != nullptr ? pool->device : device, bytes, pointer);
    if (verdict) return call.finish(*verdict);
  }
  if (pool == nullptr) {
    std::uint64_t raw = current_pool(call, device, error);
    if (raw != 0) pool = find_pool(call, raw);
    if (pool == nullptr) return call.finish(error != hipSuccess ? error : hipErrorInvalidValue);
  }
  if (!client.pools().book(*pool, bytes)) return call.finish(hipErrorOutOfMemory);
  std::uint64_t address = 0;
  error = client.device_memory().allocate_on_stream(pool->device, handle, bytes, address);
  if (error != hipSuccess) {
    client.pools().cancel(*pool, bytes);
    return call.finish(error);
  }
  client.pools().allocated(pool, address, bytes, order_of(call, handle));
  *pointer = reinterpret_cast<void*>(address);
  return call.finish(hipSuccess);
}

}  // namespace

hipError_t hipMallocAsync(ApiCall& call, void** pointer, size_t bytes, hipStream_t stream) {
  return call.connected() ? allocate(call, pointer, bytes, nullptr, stream) : call.finish();
}

hipError_t hipMallocFromPoolAsync(ApiCall& call, void** pointer, size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  if (!call.connected()) return call.finish();
  auto facts = find_pool(call, pool);
  if (facts == nullptr || facts->is_imported) return call.finish(hipErrorInvalidValue);
  return allocate(call, pointer, bytes, std::move(facts), stream);
}

hipError_t hipFreeAsync(ApiCall& call, void* pointer, hipStream_t stream) {
  if (pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  hipError_t error = hipSuccess;
  if (!find_stream(call, stream, handle, error)) return error;
  Client& client = call.client();
  graph::Library& graphs = client.graphs().library();
  if (graphs.capturing()) {
    const auto verdict = graphs.capture_release(client.graphs().reference(call.device(), handle), pointer);
    if (verdict) return call.finish(*verdict);
  }
  if (const auto verdict = graphs.free_memory(pointer)) return call.finish(*verdict);
  // Fine-grained memory that is host memory is in no pool: it is freed when the devices are done.
  const auto host = client.host_memory().find(pointer);
  if (host && host->kind == HostRange::Kind::kFineGrained)
    return call.finish(host->base == to_raw(pointer) ? client.free_host(*host) : hipErrorInvalidValue);
  // Another process's: nothing of it is left to wait for.
  if (const auto imported = client.shared_memory().close(to_raw(pointer), SharedMemory::Way::kPool))
    return call.finish(close_shared(call, imported->base));
  client.unshare(call.device(), to_raw(pointer));
  if (client.advice().any()) {  // before somebody else gets the block
    const auto block = client.device_memory().find_block(to_raw(pointer));
    if (block && block->base == to_raw(pointer)) client.advice().forget(block->base, block->bytes);
  }
  error = client.device_memory().release_on_stream(to_raw(pointer), handle);
  if (error == hipSuccess) client.pools().freed(to_raw(pointer), order_of(call, handle));
  return call.finish(error);
}

hipError_t hipMemPoolCreate(ApiCall& call, hipMemPool_t* pool, const hipMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return call.finish(hipErrorInvalidValue);
  if (properties->allocType != hipMemAllocationTypePinned ||
      properties->location.type != hipMemLocationTypeDevice)
    return call.finish(hipErrorInvalidValue);
  const bool shareable = properties->handleTypes == hipMemHandleTypePosixFileDescriptor;
  if (!shareable && properties->handleTypes != hipMemHandleTypeNone) return call.finish(hipErrorNotSupported);
  if (!call.connected()) return call.finish();
  if (!valid_device(call, properties->location.id)) return call.finish(hipErrorInvalidValue);
  std::uint64_t raw = call.client().pools().create(properties->location.id,
                                                   shareable ? Pools::Kind::kShareable : Pools::Kind::kPlain,
                                                   abi::pool_limit(abi::kRules.major, *properties));
  if (raw == 0) return call.finish(hipErrorOutOfMemory);
  *pool = pool_of(raw);
  return call.finish(hipSuccess);
}

hipError_t hipMemPoolDestroy(ApiCall& call, hipMemPool_t pool) {
  if (!call.connected()) return call.finish();
  return call.finish(call.client().pools().destroy(to_raw(pool)));
}

hipError_t hipMemPoolTrimTo(ApiCall& call, hipMemPool_t pool, size_t bytes_to_hold) {
  if (!call.connected()) return call.finish();
  auto facts = find_pool(call, pool);
  if (facts == nullptr) return call.finish(hipErrorInvalidValue);
  Client& client = call.client();
  for (const PoolOrder& freed : client.pools().pending(*facts))
    if (has_reached(client, freed)) client.pools().reached(*facts, freed);
  client.pools().trim(*facts, bytes_to_hold);
  return call.finish(hipSuccess);
}

hipError_t hipMemPoolSetAttribute(ApiCall& call, hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  if (value == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  auto facts = find_pool(call, pool);
  if (facts == nullptr) return call.finish(hipErrorInvalidValue);
  return call.finish(call.client().pools().set_attribute(*facts, attribute, value));
}

hipError_t hipMemPoolGetAttribute(ApiCall& call, hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  if (value == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  auto facts = find_pool(call, pool);
  if (facts == nullptr) return call.finish(hipErrorInvalidValue);
  return call.finish(call.client().pools().get_attribute(*facts, attribute, value));
}

// Every device of the worker reaches leases.
hipError_t hipMemPoolSetAccess(ApiCall& call, hipMemPool_t pool, const hipMemAccessDesc* descriptions,
                               size_t count) {
  if (!call.connected()) return call.finish();
  auto facts = find_pool(call, pool);
  if (facts == nullptr || descriptions == nullptr || count == 0) return call.finish(hipErrorInvalidValue);
  if (count > static_cast<size_t>(call.client().device_count())) return call.finish(hipErrorInvalidDevice);
  for (size_t i = 0; i < count; ++i) {
    const hipMemLocation& where = descriptions[i].location;
    if (where.type != hipMemLocationTypeDevice) return call.finish(hipErrorInvalidValue);
    if (!valid_device(call, where.id)) return call.finish(hipErrorInvalidDevice);
    if (descriptions[i].flags == hipMemAccessFlagsProtNone) return call.finish(hipErrorInvalidDevice);
    if (descriptions[i].flags > hipMemAccessFlagsProtReadWrite) return call.finish(hipErrorInvalidValue);
  }
  return call.finish(hipSuccess);
}

hipError_t hipMemPoolGetAccess(ApiCall& call, hipMemAccessFlags* flags, hipMemPool_t pool,
                               hipMemLocation* location) {
  if (!call.connected()) return call.finish();
  bool sane = flags != nullptr && location != nullptr && location->type == hipMemLocationTypeDevice &&
              find_pool(call, pool) != nullptr && valid_device(call, location->id);
  if (!sane) return call.finish(hipErrorInvalidValue);
  *flags = hipMemAccessFlagsProtReadWrite;
  return call.finish(hipSuccess);
}

hipError_t hipDeviceGetMemPool(ApiCall& call, hipMemPool_t* pool, int device) {
  if (pool == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  if (!valid_device(call, device)) return call.finish(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  std::uint64_t raw = current_pool(call, device, error);
  if (raw != 0) *pool = pool_of(raw);
  return call.finish(error);
}

hipError_t hipDeviceSetMemPool(ApiCall& call, int device, hipMemPool_t pool) {
  if (!call.connected()) return call.finish();
  auto facts = find_pool(call, pool);
  if (facts == nullptr || facts->is_imported) return call.finish(hipErrorInvalidValue);
  if (!valid_device(call, device)) return call.finish(hipErrorInvalidValue);
  if (facts->device != device) return call.finish(hipErrorInvalidDevice);
  call.client().pools().set_current(device, to_raw(pool));
  return call.finish(hipSuccess);
}

}  // namespace tf::proxy::custom
