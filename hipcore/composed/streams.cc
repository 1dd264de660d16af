// SPDX-License-Identifier: Apache-2.0
// Batches of waits and writes (HIP 6.4), and attributes of streams (HIP 7).
#include <cstdint>
#include <map>
#include <new>

#include "hipcore/composed/composed.h"
#include "hipcore/newer/batch.h"
#include "transport/base/mutex.h"

namespace tf::composed {
namespace {

hipError_t issue(hipStream_t stream, const hipStreamBatchMemOpParams& operation) {
  const auto& wait = operation.waitValue;
  const auto& write = operation.writeValue;
  switch (operation.operation) {
    case hipStreamMemOpWaitValue32:
      return hipStreamWaitValue32(stream, wait.address, wait.value, wait.flags, ~std::uint32_t{0});
    case hipStreamMemOpWaitValue64:
      return hipStreamWaitValue64(stream, wait.address, wait.value64, wait.flags, ~std::uint64_t{0});
    case hipStreamMemOpWriteValue32:
      return hipStreamWriteValue32(stream, write.address, write.value, write.flags);
    default: return hipStreamWriteValue64(stream, write.address, write.value64, write.flags);
  }
}

// How threads shall wait for a stream, by its number: a hint, kept for the program. Numbers are never used
// again, so an entry that outlives its stream names no other. Thread-safe.
class WaitPolicies {
 public:
  static constexpr std::size_t kMax = 4096;  // one more takes the place of the lowest number

  hipError_t set(unsigned long long stream, hipSynchronizationPolicy policy) {
    const MutexLock lock(mutex_);
    try {
      if (policies_.size() >= kMax && !policies_.contains(stream)) policies_.erase(policies_.begin());
      policies_[stream] = policy;
      return hipSuccess;
    } catch (const std::bad_alloc&) {
      return hipErrorOutOfMemory;
    }
  }
  hipSynchronizationPolicy get(unsigned long long stream) const {
    const MutexLock lock(mutex_);
    const auto found = policies_.find(stream);
    return found == policies_.end() ? hipSyncPolicyAuto : found->second;
  }

 private:
  mutable Mutex mutex_;
  std::map<unsigned long long, hipSynchronizationPolicy> policies_ TF_GUARDED_BY(mutex_);
};

// Never destroyed: programs call until the process ends.
WaitPolicies& wait_policies() {
  static WaitPolicies& policies = *new WaitPolicies;
  return policies;
}

// The number of a stream whose attributes may be asked or set; HIP names an invalid one by this error.
hipError_t attributed(hipStream_t stream, unsigned long long& number) {
  return hipStreamGetId(stream, &number) == hipSuccess ? hipSuccess : refuse(hipErrorInvalidHandle);
}

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;

// All are checked before the first is issued. They run one after the other.
TF_COMPOSED hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count,
                                           hipStreamBatchMemOpParams* operations, unsigned int flags) {
  if (!tf::is_possible_batch(operations, count, flags)) return refuse(hipErrorInvalidValue);
  for (unsigned i = 0; i < count; ++i) {
    if (const hipError_t error = issue(stream, operations[i])) return error;
  }
  return hipSuccess;
}

// As AMD's runtime: the policy of waiting can be set, and the priority be asked too.
TF_COMPOSED hipError_t hipStreamSetAttribute(hipStream_t stream, hipLaunchAttributeID attribute,
                                             const hipLaunchAttributeValue* value) {
  if (value == nullptr) return refuse(hipErrorInvalidValue);
  unsigned long long number = 0;
  if (const hipError_t error = attributed(stream, number)) return error;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (hipStreamIsCapturing(stream, &status) != hipSuccess || status != hipStreamCaptureStatusNone)
    return refuse(hipErrorStreamCaptureUnsupported);
  const hipSynchronizationPolicy policy = value->syncPolicy;
  if (attribute != hipLaunchAttributeSynchronizationPolicy || policy < hipSyncPolicyAuto ||
      policy > hipSyncPolicyBlockingSync)
    return refuse(hipErrorInvalidValue);
  const hipError_t error = wait_policies().set(number, policy);
  return error == hipSuccess ? hipSuccess : refuse(error);
}

TF_COMPOSED hipError_t hipStreamGetAttribute(hipStream_t stream, hipLaunchAttributeID attribute,
                                             hipLaunchAttributeValue* value) {
  if (value == nullptr) return refuse(hipErrorInvalidValue);
  unsigned long long number = 0;
  if (const hipError_t error = attributed(stream, number)) return error;
  if (attribute == hipLaunchAttributePriority) return hipStreamGetPriority(stream, &value->priority);
  if (attribute != hipLaunchAttributeSynchronizationPolicy) return refuse(hipErrorInvalidValue);
  value->syncPolicy = wait_policies().get(number);
  return hipSuccess;
}

TF_COMPOSED hipError_t hipStreamCopyAttributes(hipStream_t target, hipStream_t source) {
  unsigned long long from = 0, to = 0;
  if (const hipError_t error = attributed(source, from)) return error;
  if (const hipError_t error = attributed(target, to)) return error;
  const hipError_t error = wait_policies().set(to, wait_policies().get(from));
  return error == hipSuccess ? hipSuccess : refuse(error);
}
