// SPDX-License-Identifier: Apache-2.0
// Device memory that network devices read and write by themselves (GPUDirect RDMA).
//
// Their writes arrive over the bus beside everything else that reaches a GPU. A GPU that orders them natively
// for itself (CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER) sees them in all work that begins after the network
// device reported them done. Other GPUs that read its memory over another link need not see them. For these,
// and on GPUs without any such order, the driver flushes. If it cannot do that either, the memory is not
// offered to the worker.
#include "worker/runtime/common/extensions.h"
#include "worker/runtime/cuda/api.h"

namespace tf::cuda {
namespace {

int attribute(int number, const Device& device) {
  int value = 0;
  return cu().DeviceGetAttribute(&value, number, device.handle) == driver::Result::SUCCESS ? value : 0;
}

hipError_t range_handle(int* descriptor, void* pointer, std::size_t bytes) {
  if (!attribute(driver::kAttributeDmaBuf, current_device())) return hipErrorNotSupported;
  return check(cu().MemGetHandleForAddressRange(descriptor, pointer, bytes, driver::kRangeDmaBuf, 0));
}

// With one device only the owner reads.
hipError_t flush(int ordinal, int& always) {
  Runtime& runtime = Runtime::get();
  const Device& device = runtime.device(ordinal);
  const int wanted = runtime.device_count() > 1 ? driver::kSeenByAll : driver::kSeenByOwner;
  always = attribute(driver::kAttributeRdmaOrdering, device) >= wanted ? 1 : 0;
  if (always) return hipSuccess;
  if (!(attribute(driver::kAttributeRdmaFlushOptions, device) & driver::kFlushByHost))
    return hipErrorNotSupported;
  return check(cu().FlushGPUDirectRDMAWrites(driver::kFlushCurrentContext, wanted));
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

TF_CUDA_EXPORT hipError_t hipMemGetHandleForAddressRange(void* handle, hipDeviceptr_t pointer, size_t bytes,
                                                         int type, unsigned long long flags) {
  return api([&] {
    if (!handle || !pointer || bytes == 0 || type != kHipMemRangeHandleTypeDmaBufFd || flags != 0)
      return hipErrorInvalidValue;
    return range_handle(static_cast<int*>(handle), pointer, bytes);
  });
}

TF_CUDA_EXPORT hipError_t hipRemoteFlushWrites(int ordinal, int* always) {
  if (!always || !Runtime::get().valid_device(ordinal)) return hipErrorInvalidValue;
  ThreadState& self = thread_state();
  const hipError_t last = self.last_error;
  const int before = self.device;
  select_device(self, ordinal);
  const hipError_t status = api([&] { return flush(ordinal, *always); });
  select_device(self, before);
  self.last_error = last;
  return status;
}

}  // extern "C"
