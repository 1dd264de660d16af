// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory and pools: the driver's own. HIP's numbers of the pools' attributes are CUDA's.
#include <vector>

#include "hipcore/abi/rules.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/convert.h"

namespace tf::cuda {

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
  return check(cu().MemPoolCreate(&handle, &properties));
}

hipError_t Backend::share_pool(Pool pool, int& descriptor) {
  return check(
      cu().MemPoolExportToShareableHandle(&descriptor, pool, hipMemHandleTypePosixFileDescriptor, 0));
}

hipError_t Backend::open_pool(int descriptor, hipMemPool_t& pool) {
  void* const handle = reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor));
  return check(cu().MemPoolImportFromShareableHandle(&pool, handle, hipMemHandleTypePosixFileDescriptor, 0));
}

hipError_t Backend::share_pool_memory(void* pointer, hipMemPoolPtrExportData& data) {
  return check(cu().MemPoolExportPointer(&data, pointer));
}

hipError_t Backend::open_pool_memory(Pool pool, const hipMemPoolPtrExportData& data, void*& pointer) {
  hipMemPoolPtrExportData copy = data;  // the driver takes it without const
  return check(cu().MemPoolImportPointer(&pointer, pool, &copy));
}

hipError_t Backend::destroy_pool(hipMemPool_t handle) { return check(cu().MemPoolDestroy(handle)); }

hipError_t Backend::trim_pool(Pool pool, std::size_t keep_bytes) {
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
  return check(cu().DeviceGetDefaultMemPool(&pool, Runtime::get().device(device).handle));
}

hipError_t Backend::current_pool(int device, hipMemPool_t& pool) {
  return check(cu().DeviceGetMemPool(&pool, Runtime::get().device(device).handle));
}

hipError_t Backend::set_current_pool(int device, Pool pool) {
  return check(cu().DeviceSetMemPool(Runtime::get().device(device).handle, pool));
}

}  // namespace tf::cuda
