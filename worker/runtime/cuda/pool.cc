// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory and pools: the driver's own. HIP's numbers of the pools' attributes are CUDA's.
#include <unordered_set>
#include <vector>

#include "hipcore/abi/rules.h"
#include "transport/base/mutex.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/convert.h"

namespace tf::cuda {
namespace {

// The pools that exist: the driver would follow any pointer.
struct KnownPools {
  SharedMutex mutex;
  std::unordered_set<hipMemPool_t> all TF_GUARDED_BY(mutex);
  // Gone for the program, which has memory of theirs. Driver 580 destroys such a pool too late: when its last
  // memory is freed, it may be the next pool that goes, at the same address, and the process crashes.
  std::vector<hipMemPool_t> leaving TF_GUARDED_BY(mutex);
};

KnownPools& known_pools() {
  static KnownPools* const known = new KnownPools;  // for ever, as the Runtime
  return *known;
}

// Of a call that answers with a pool.
hipError_t give(driver::Result result, const hipMemPool_t& pool) {
  if (result != driver::Result::SUCCESS) return hip_error(result);
  const MutexLock lock(known_pools().mutex);
  known_pools().all.insert(pool);
  return hipSuccess;
}

bool has_memory(hipMemPool_t pool) {
  std::uint64_t bytes = 0;
  return cu().MemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &bytes) == driver::Result::SUCCESS &&
         bytes != 0;
}

void destroy_empty(KnownPools& known) TF_REQUIRES(known.mutex) {
  std::erase_if(known.leaving, [](hipMemPool_t pool) {
    return !has_memory(pool) && cu().MemPoolDestroy(pool) == driver::Result::SUCCESS;
  });
}

// What the driver does for a pool that it destroys: it is no device's current one any more, and what is freed
// goes back to the system.
void retire(hipMemPool_t pool) {
  Runtime& runtime = Runtime::get();
  for (int ordinal = 0; ordinal < runtime.device_count(); ++ordinal) {
    const driver::Device device = runtime.device(ordinal).handle;
    hipMemPool_t current = nullptr;
    hipMemPool_t usual = nullptr;
    if (cu().DeviceGetMemPool(&current, device) == driver::Result::SUCCESS && current == pool &&
        cu().DeviceGetDefaultMemPool(&usual, device) == driver::Result::SUCCESS)
      static_cast<void>(cu().DeviceSetMemPool(device, usual));
  }
  std::uint64_t kept_bytes = 0;
  static_cast<void>(cu().MemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &kept_bytes));
}

bool is_default(hipMemPool_t pool) {
  Runtime& runtime = Runtime::get();
  for (int ordinal = 0; ordinal < runtime.device_count(); ++ordinal) {
    hipMemPool_t usual = nullptr;
    if (cu().DeviceGetDefaultMemPool(&usual, runtime.device(ordinal).handle) == driver::Result::SUCCESS &&
        usual == pool)
      return true;
  }
  return false;
}

}  // namespace

hipMemPool_t Backend::find_pool(hipMemPool_t handle) {
  const SharedLock lock(known_pools().mutex);
  return known_pools().all.contains(handle) ? handle : nullptr;
}

hipError_t Backend::allocate_async(void** pointer, std::size_t bytes, Stream stream) {
  return check(cu().MemAllocAsync(pointer, bytes, stream));
}

hipError_t Backend::allocate_from_pool(void** pointer, std::size_t bytes, Pool pool, Stream stream) {
  return check(cu().MemAllocFromPoolAsync(pointer, bytes, pool, stream));
}

hipError_t Backend::free_async(void* pointer, Stream stream) {
  Runtime::get().forget_advice(pointer);
  return check(cu().MemFreeAsync(pointer, stream));
}

hipError_t Backend::create_pool(hipMemPool_t& handle, const hipMemPoolProps& wish) {
  const driver::PoolProperties properties = convert(wish, abi::kRules.major);
  {
    const MutexLock lock(known_pools().mutex);
    destroy_empty(known_pools());
  }
  return give(cu().MemPoolCreate(&handle, &properties), handle);
}

hipError_t Backend::share_pool(Pool pool, int& descriptor) {
  return check(
      cu().MemPoolExportToShareableHandle(&descriptor, pool, hipMemHandleTypePosixFileDescriptor, 0));
}

hipError_t Backend::open_pool(int descriptor, hipMemPool_t& pool) {
  void* const handle = reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor));
  const driver::Result result =
      cu().MemPoolImportFromShareableHandle(&pool, handle, hipMemHandleTypePosixFileDescriptor, 0);
  const hipError_t status = give(result, pool);
  // What the driver says of a file that is no pool of its.
  return status == hipErrorUnknown || status == hipErrorInvalidHandle ? hipErrorInvalidValue : status;
}

hipError_t Backend::share_pool_memory(void* pointer, hipMemPoolPtrExportData& data) {
  return check(cu().MemPoolExportPointer(&data, pointer));
}

hipError_t Backend::open_pool_memory(Pool pool, const hipMemPoolPtrExportData& data, void*& pointer) {
  hipMemPoolPtrExportData copy = data;  // the driver takes it without const
  return check(cu().MemPoolImportPointer(&pointer, pool, &copy));
}

hipError_t Backend::destroy_pool(hipMemPool_t handle) {
  KnownPools& known = known_pools();
  const MutexLock lock(known.mutex);
  if (!known.all.contains(handle) || is_default(handle)) return hipErrorInvalidValue;
  destroy_empty(known);
  if (has_memory(handle)) {
    retire(handle);
    known.leaving.push_back(handle);
  } else if (const hipError_t status = check(cu().MemPoolDestroy(handle))) {
    return status;
  }
  known.all.erase(handle);
  return hipSuccess;
}

hipError_t Backend::trim_pool(Pool pool, std::size_t keep_bytes) {
  see_idle_streams();  // what they have freed can go
  return check(cu().MemPoolTrimTo(pool, keep_bytes));
}

hipError_t Backend::set_pool_attribute(Pool pool, hipMemPoolAttr attribute, void* value) {
  return check(cu().MemPoolSetAttribute(pool, attribute, value));
}

hipError_t Backend::pool_attribute(Pool pool, hipMemPoolAttr attribute, void* value) {
  return check(cu().MemPoolGetAttribute(pool, attribute, value));
}

hipError_t Backend::set_pool_access(Pool pool, std::span<const hipMemAccessDesc> wishes) {
  const std::vector<driver::AccessDescription> access = convert(wishes);
  return check(cu().MemPoolSetAccess(pool, access.data(), access.size()));
}

hipError_t Backend::pool_access(Pool pool, const hipMemLocation& location, hipMemAccessFlags& flags) {
  driver::Location place{location.type, location.id};
  int number = 0;
  const hipError_t status = check(cu().MemPoolGetAccess(&number, pool, &place));
  if (status == hipSuccess) flags = static_cast<hipMemAccessFlags>(number);
  return status;
}

hipError_t Backend::default_pool(int device, hipMemPool_t& pool) {
  return give(cu().DeviceGetDefaultMemPool(&pool, Runtime::get().device(device).handle), pool);
}

hipError_t Backend::current_pool(int device, hipMemPool_t& pool) {
  return give(cu().DeviceGetMemPool(&pool, Runtime::get().device(device).handle), pool);
}

hipError_t Backend::set_current_pool(int device, Pool pool) {
  return check(cu().DeviceSetMemPool(Runtime::get().device(device).handle, pool));
}

}  // namespace tf::cuda
