// SPDX-License-Identifier: Apache-2.0
// Linear copies. The driver knows from the addresses what memory they are in.
#include "worker/runtime/cuda/copy.h"

#include <atomic>
#include <cstring>

#include "worker/runtime/cuda/backend.h"

namespace tf::cuda {

namespace {

// For copies between host memory that the driver does not know, which it does not make. Only if the program
// says that it is such a copy: an address that belongs to nobody any more would look the same.
hipError_t copy_on_host(void* target, const void* source, std::size_t bytes, hipStream_t stream) {
  const driver::Result result = cu().StreamSynchronize(stream);
  if (result != driver::Result::SUCCESS) return hip_error(result);
  std::memmove(target, source, bytes);
  return hipSuccess;
}

// Relaxed: a process that shares memory informs the others by means that order more than this.
std::atomic<bool> is_memory_shared{false};

}  // namespace

void note_sharing() { is_memory_shared.store(true, std::memory_order_relaxed); }

hipError_t settle(driver::Result result) {
  if (result != driver::Result::SUCCESS) return hip_error(result);
  if (is_memory_shared.load(std::memory_order_relaxed)) return check(cu().StreamSynchronize(nullptr));
  return Runtime::get().late_work.add();
}

hipError_t Backend::copy(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                         Stream stream, Wait wait) {
  void* const from = const_cast<void*>(source);
  const bool is_sync = wait == Wait::kYes && !stream;
  const driver::Result result =
      is_sync ? cu().Memcpy(target, from, bytes) : cu().MemcpyAsync(target, from, bytes, stream);
  if (result == driver::Result::INVALID_VALUE && kind == hipMemcpyHostToHost) [[unlikely]]
    return copy_on_host(target, source, bytes, stream);
  if (is_sync) return settle(result);
  if (result != driver::Result::SUCCESS || wait == Wait::kNo) return check(result);
  return check(cu().StreamSynchronize(stream));
}

hipError_t Backend::copy_between_devices(void* target, int target_device, const void* source,
                                         int source_device, std::size_t bytes, Stream stream, Wait wait) {
  driver::Context to = nullptr;
  driver::Context from = nullptr;
  if (const hipError_t status = context(target_device, to)) return status;
  if (const hipError_t status = context(source_device, from)) return status;
  void* const start = const_cast<void*>(source);
  return wait == Wait::kYes ? settle(cu().MemcpyPeer(target, to, start, from, bytes))
                            : check(cu().MemcpyPeerAsync(target, to, start, from, bytes, stream));
}

}  // namespace tf::cuda
