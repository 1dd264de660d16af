// SPDX-License-Identifier: Apache-2.0
// Execution contexts (HIP 7.14): multiprocessors of a device, and the streams that use them. A stream of a
// context has the mask of its multiprocessors; what a mask does is the runtime's affair.
#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "hipcore/composed/resources.h"
#include "transport/base/mutex.h"

namespace tf::composed {
namespace {

// Keeps what the thread's last error is, whatever is asked in the meantime.
class SameLastError {
 public:
  SameLastError() : before_(hipPeekAtLastError()) {}
  ~SameLastError() {
    (void)hipGetLastError();
    if (before_ != hipSuccess) (void)refuse(before_);
  }
  SameLastError(const SameLastError&) = delete;
  SameLastError& operator=(const SameLastError&) = delete;

 private:
  hipError_t before_;
};

class Context {
 public:
  static constexpr std::size_t kStreamsMax = 1 << 16;

  Context(int device, unsigned long long id, std::vector<hipDevResource> resources, UnitMask mask)
      : device_(device), id_(id), resources_(std::move(resources)), mask_(std::move(mask)) {}

  int device() const { return device_; }
  unsigned long long id() const { return id_; }
  const std::vector<hipDevResource>& resources() const { return resources_; }

  hipError_t create_stream(hipStream_t& stream, unsigned flags, int priority) {
    const CurrentDevice current(device_);
    if (current.error() != hipSuccess) return current.error();
    const MutexLock lock(mutex_);
    if (streams_.size() == streams_.capacity()) forget_destroyed();
    if (streams_.size() >= kStreamsMax) return refuse(hipErrorOutOfMemory);
    if (streams_.size() == streams_.capacity()) streams_.reserve(2 * streams_.size() + 8);
    Entry made{};
    if (const hipError_t error =
            create_masked_stream(made.stream, flags, priority, mask_.size(), mask_.data()))
      return error;
    if (const hipError_t error = hipStreamGetId(made.stream, &made.number)) {
      (void)hipStreamDestroy(made.stream);
      return error;
    }
    streams_.push_back(made);
    stream = made.stream;
    return hipSuccess;
  }

  // Those that the program has not destroyed.
  std::vector<hipStream_t> streams() {
    const MutexLock lock(mutex_);
    forget_destroyed();
    std::vector<hipStream_t> found;
    for (const Entry& entry : streams_) found.push_back(entry.stream);
    return found;
  }

 private:
  struct Entry {
    hipStream_t stream;
    unsigned long long number;  // which no other stream ever has
  };

  void forget_destroyed() TF_REQUIRES(mutex_) {
    const SameLastError same;
    std::erase_if(streams_, [](const Entry& entry) {
      unsigned long long number = 0;
      return hipStreamGetId(entry.stream, &number) != hipSuccess || number != entry.number;
    });
  }

  const int device_;
  const unsigned long long id_;
  const std::vector<hipDevResource> resources_;
  const UnitMask mask_;
  Mutex mutex_;  // held during calls of HIP, which call nothing here
  std::vector<Entry> streams_ TF_GUARDED_BY(mutex_);
};

// Thread-safe; throws std::bad_alloc.
class Contexts {
 public:
  static constexpr std::size_t kMax = 1 << 16;

  hipError_t add(int device, std::vector<hipDevResource> resources, hipExecutionCtx_t& handle) {
    unsigned units = 0;
    if (const hipError_t error = count_units(device, units)) return error;
    UnitMask mask = mask_of(resources, units);
    const MutexLock lock(mutex_);
    if (all_.size() >= kMax) return refuse(hipErrorOutOfMemory);
    handle = keep(device, std::move(resources), std::move(mask));
    return hipSuccess;
  }

  // The one of the whole device, for the life of the process.
  hipError_t get_primary(int device, hipExecutionCtx_t& handle) {
    unsigned units = 0;
    if (const hipError_t error = count_units(device, units)) return error;
    std::vector<hipDevResource> whole{make_resource({.device = device}, units, 1, 0)};
    UnitMask mask = mask_of(whole, units);
    const MutexLock lock(mutex_);
    const auto found = primaries_.find(device);
    handle = found != primaries_.end() ? found->second : keep(device, std::move(whole), std::move(mask));
    primaries_[device] = handle;
    return hipSuccess;
  }

  hipError_t remove(hipExecutionCtx_t handle) {
    const MutexLock lock(mutex_);
    for (const auto& [device, primary] : primaries_) {
      if (primary == handle) return refuse(hipErrorInvalidValue);
    }
    return all_.erase(handle) != 0 ? hipSuccess : refuse(hipErrorInvalidHandle);
  }

  std::shared_ptr<Context> find(hipExecutionCtx_t handle) const {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    return found == all_.end() ? nullptr : found->second;
  }

 private:
  hipExecutionCtx_t keep(int device, std::vector<hipDevResource> resources, UnitMask mask)
      TF_REQUIRES(mutex_) {
    const auto made = reinterpret_cast<hipExecutionCtx_t>(++last_ << 4);
    all_.emplace(made, std::make_shared<Context>(device, last_, std::move(resources), std::move(mask)));
    return made;
  }

  mutable Mutex mutex_;
  std::map<hipExecutionCtx_t, std::shared_ptr<Context>> all_ TF_GUARDED_BY(mutex_);
  std::map<int, hipExecutionCtx_t> primaries_ TF_GUARDED_BY(mutex_);  // by device
  std::uintptr_t last_ TF_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: programs call until the process ends.
Contexts& contexts() {
  static Contexts& contexts = *new Contexts;
  return contexts;
}

// The frame of a context's functions.
template <typename Body>
hipError_t with_context(hipExecutionCtx_t handle, Body&& body) {
  if (handle == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    const std::shared_ptr<Context> context = contexts().find(handle);
    return context != nullptr ? body(*context) : refuse(hipErrorInvalidHandle);
  });
}

hipError_t check_event(hipEvent_t event) {
  const SameLastError same;
  const hipError_t error = hipEventQuery(event);
  return error == hipErrorInvalidHandle || error == hipErrorInvalidValue ? hipErrorInvalidHandle : hipSuccess;
}

// The first stream waits for what the others have now.
hipError_t gather(const std::vector<hipStream_t>& streams) {
  hipEvent_t reached = nullptr;
  if (const hipError_t error = hipEventCreateWithFlags(&reached, hipEventDisableTiming)) return error;
  hipError_t error = hipSuccess;
  for (std::size_t i = 1; i < streams.size() && error == hipSuccess; ++i) {
    error = hipEventRecord(reached, streams[i]);
    if (error == hipSuccess) error = hipStreamWaitEvent(streams[0], reached, 0);
  }
  const hipError_t destroyed = hipEventDestroy(reached);
  return error != hipSuccess ? error : destroyed;
}

hipError_t record(Context& context, hipEvent_t event) {
  const std::vector<hipStream_t> streams = context.streams();
  if (streams.empty()) return hipSuccess;
  const CurrentDevice current(context.device());
  if (current.error() != hipSuccess) return current.error();
  if (streams.size() > 1) {
    if (const hipError_t error = gather(streams)) return error;
  }
  return hipEventRecord(event, streams[0]);
}

// The multiprocessors of a stream, as one resource: those of its mask.
hipError_t get_stream_resource(hipStream_t stream, hipDevResource& resource) {
  hipDevice_t device = 0;
  if (hipStreamGetDevice(stream, &device) != hipSuccess) return refuse(hipErrorInvalidHandle);
  unsigned units = 0;
  if (const hipError_t error = count_units(device, units)) return error;
  UnitMask mask((units + kUnitsPerWord - 1) / kUnitsPerWord, 0);
  const auto words = static_cast<std::uint32_t>(mask.size());
  if (const hipError_t error = hipExtStreamGetCUMask(stream, words, mask.data())) return error;
  unsigned count = 0;
  std::uint32_t first = 0;
  for (std::uint32_t word = words; word-- > 0;) {
    count += static_cast<unsigned>(std::popcount(mask[word]));
    if (mask[word] != 0)
      first = word * kUnitsPerWord + static_cast<std::uint32_t>(std::countr_zero(mask[word]));
  }
  resource = make_resource({.device = device, .first = first}, count, 1, 0);
  return hipSuccess;
}

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;

TF_COMPOSED hipError_t hipGreenCtxCreate(hipExecutionCtx_t* context, hipDevResourceDesc_t descriptor,
                                         int device, unsigned int flags) {
  if (context == nullptr || descriptor == nullptr || flags != 0) return refuse(hipErrorInvalidValue);
  return guarded([&]() -> hipError_t {
    if (const hipError_t error = check_device(device)) return error;
    std::vector<hipDevResource> resources = resources_of(descriptor);
    if (resources.empty()) return refuse(hipErrorInvalidValue);
    if (tag_of(resources.front()).device != device) return refuse(hipErrorInvalidDevice);
    return contexts().add(device, std::move(resources), *context);
  });
}

TF_COMPOSED hipError_t hipDeviceGetExecutionCtx(hipExecutionCtx_t* context, int device) {
  if (context == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&] { return contexts().get_primary(device, *context); });
}

// Its streams stay.
TF_COMPOSED hipError_t hipExecutionCtxDestroy(hipExecutionCtx_t context) {
  if (context == nullptr) return refuse(hipErrorInvalidValue);
  return guarded([&] { return contexts().remove(context); });
}

TF_COMPOSED hipError_t hipExecutionCtxStreamCreate(hipStream_t* stream, hipExecutionCtx_t context,
                                                   unsigned int flags, int priority) {
  if (stream == nullptr || (flags != hipStreamDefault && flags != hipStreamNonBlocking))
    return refuse(hipErrorInvalidValue);
  return with_context(context, [&](Context& found) { return found.create_stream(*stream, flags, priority); });
}

// As AMD's runtime: `resource` has room for all that the context has of that type, and they are linked.
TF_COMPOSED hipError_t hipExecutionCtxGetDevResource(hipExecutionCtx_t context, hipDevResource* resource,
                                                     hipDevResourceType type) {
  if (resource == nullptr) return refuse(hipErrorInvalidValue);
  return with_context(context, [&](Context& found) {
    if (type != hipDevResourceTypeSm) return refuse(hipErrorInvalidResourceType);
    std::size_t count = 0;
    for (const hipDevResource& each : found.resources()) {
      resource[count] = each;
      resource[count].nextResource = nullptr;
      if (count != 0) resource[count - 1].nextResource = &resource[count];
      ++count;
    }
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipExecutionCtxGetDevice(int* device, hipExecutionCtx_t context) {
  if (device == nullptr) return refuse(hipErrorInvalidValue);
  return with_context(context, [&](Context& found) {
    *device = found.device();
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipExecutionCtxGetId(hipExecutionCtx_t context, unsigned long long* id) {
  if (id == nullptr) return refuse(hipErrorInvalidValue);
  return with_context(context, [&](Context& found) {
    *id = found.id();
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipStreamGetDevResource(hipStream_t stream, hipDevResource* resource,
                                               hipDevResourceType type) {
  if (resource == nullptr) return refuse(hipErrorInvalidValue);
  if (type != hipDevResourceTypeSm) return refuse(hipErrorInvalidResourceType);
  return guarded([&] { return get_stream_resource(stream, *resource); });
}

TF_COMPOSED hipError_t hipExecutionCtxRecordEvent(hipExecutionCtx_t context, hipEvent_t event) {
  return with_context(context, [&](Context& found) {
    const hipError_t error = check_event(event);
    return error == hipSuccess ? record(found, event) : refuse(error);
  });
}

TF_COMPOSED hipError_t hipExecutionCtxWaitEvent(hipExecutionCtx_t context, hipEvent_t event) {
  return with_context(context, [&](Context& found) -> hipError_t {
    if (const hipError_t error = check_event(event)) return refuse(error);
    for (const hipStream_t stream : found.streams()) {
      if (const hipError_t error = hipStreamWaitEvent(stream, event, 0)) return error;
    }
    return hipSuccess;
  });
}

TF_COMPOSED hipError_t hipExecutionCtxSynchronize(hipExecutionCtx_t context) {
  return with_context(context, [&](Context& found) -> hipError_t {
    for (const hipStream_t stream : found.streams()) {
      if (const hipError_t error = hipStreamSynchronize(stream)) return error;
    }
    return hipSuccess;
  });
}
