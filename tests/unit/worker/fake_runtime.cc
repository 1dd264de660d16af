// SPDX-License-Identifier: Apache-2.0
// A HIP runtime just large enough for the worker's tests: host memory as device memory, streams that run in
// order on a thread each, events, callbacks, modules that only remember their bytes. Loaded with dlopen, like
// any runtime. Its one kernel, "fill", writes its u32 argument `value` `count` times at `target`.
//
// FAKE_DEVICES: number of devices (default 1; 0: hipErrorNoDevice). FAKE_MEMORY: bytes per device.
// FAKE_FAR: device memory is at addresses that the host may not touch. "export": as dma-bufs others may have
// it, and see at once what they write; "flush": after hipRemoteFlushWrites; "unseen": not even then; "only":
// there are no dma-bufs.
#include "tests/unit/worker/fake_runtime.h"

#include <hip/hip_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/mutex.h"
#include "transport/base/unwatched_payload.h"
#include "worker/runtime/common/extensions.h"

using tf::CondVar;
using tf::Mutex;
using tf::MutexLock;
using tf::UniqueLock;

namespace {

class Queue {
 public:
  Queue() : thread_([this] { work(); }) {}
  ~Queue() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void add(std::function<void()> task) {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    ++added_;
    changed_.notify_all();
  }
  std::uint64_t added() {
    const MutexLock lock(mutex_);
    return added_;
  }
  bool passed(std::uint64_t mark) {
    const MutexLock lock(mutex_);
    return done_ >= mark;
  }
  void wait(std::uint64_t mark) {
    const MutexLock lock(mutex_);
    changed_.wait(mutex_, [&]() TF_REQUIRES(mutex_) { return done_ >= mark; });
  }
  bool idle() { return passed(added()); }

 private:
  void work() {
    UniqueLock lock(mutex_);
    for (;;) {
      changed_.wait(mutex_, [this]() TF_REQUIRES(mutex_) { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ TF_GUARDED_BY(mutex_);
  std::uint64_t added_ TF_GUARDED_BY(mutex_) = 0;
  std::uint64_t done_ TF_GUARDED_BY(mutex_) = 0;
  bool stopping_ TF_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

struct Event {
  Queue* queue = nullptr;
  std::uint64_t mark = 0;
};

int device_count() {
  const char* text = std::getenv("FAKE_DEVICES");
  return text == nullptr ? 1 : std::atoi(text);
}

std::size_t memory_bytes() {
  const char* text = std::getenv("FAKE_MEMORY");
  return text == nullptr ? std::size_t{256} << 20 : std::strtoull(text, nullptr, 10);
}

thread_local int current_device = 0;

std::string far_mode() {
  const char* const text = std::getenv("FAKE_FAR");
  return text == nullptr ? std::string() : text;
}

// Memory whose address the host may not touch, and where this file does.
struct Far {
  char* view = nullptr;
  std::size_t bytes = 0;
  int file = -1;
};
Mutex far_mutex;
std::map<char*, Far> far_memory TF_GUARDED_BY(far_mutex);

tf::worker::FakeRuntimeState& state() {
  static tf::worker::FakeRuntimeState all;
  return all;
}

void* allocate_far(std::size_t bytes) {
  Far far;
  far.bytes = bytes;
  far.file = ::memfd_create("fake device", MFD_CLOEXEC);
  if (::ftruncate(far.file, static_cast<off_t>(bytes)) != 0) return nullptr;
  far.view = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, far.file, 0));
  void* const place = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const MutexLock lock(far_mutex);
  far_memory[static_cast<char*>(place)] = far;
  return place;
}

bool free_far(void* place) {
  const MutexLock lock(far_mutex);
  const auto found = far_memory.find(static_cast<char*>(place));
  if (found == far_memory.end()) return false;
  ::munmap(found->second.view, found->second.bytes);
  ::munmap(place, found->second.bytes);
  ::close(found->second.file);
  far_memory.erase(found);
  return true;
}

template <typename T>
T* seen(T* address) {
  auto* const wanted = const_cast<char*>(static_cast<const char*>(static_cast<const void*>(address)));
  const MutexLock lock(far_mutex);
  auto found = far_memory.upper_bound(wanted);
  if (found == far_memory.begin()) return address;
  --found;
  const auto offset = static_cast<std::size_t>(wanted - found->first);
  if (offset >= found->second.bytes) return address;
  return static_cast<T*>(static_cast<void*>(found->second.view + offset));
}

Queue& queue_of(hipStream_t stream) {
  static Queue* null_stream = std::make_unique<Queue>().release();  // outlives every static
  return stream == nullptr ? *null_stream : *reinterpret_cast<Queue*>(stream);
}
Event& event_of(hipEvent_t event) { return *reinterpret_cast<Event*>(event); }

// With an error injected, staging is used again before its copy is done.
void copy_payload(void* target, const void* source, std::size_t bytes) {
  const tf::UnwatchedPayload payload;
  std::memmove(target, source, bytes);
}

void copy_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
               std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row)
    copy_payload(static_cast<char*>(target) + row * target_pitch,
                 static_cast<const char*>(source) + row * source_pitch, width);
}

std::size_t many_arguments = 100;  // its address is the kernel "many"

struct FillArguments {
  std::uint32_t* target;
  std::uint32_t value;
  std::uint32_t count;
};

using Tasks = std::vector<std::function<void()>>;

// A node is its number; dependencies must come before it.
hipError_t add_task(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, std::size_t count,
                    std::function<void()> task) {
  auto& tasks = *reinterpret_cast<Tasks*>(graph);
  for (std::size_t i = 0; i < count; ++i)
    if (reinterpret_cast<std::uintptr_t>(before[i]) > tasks.size()) return hipErrorInvalidValue;
  tasks.push_back(std::move(task));
  *node = reinterpret_cast<hipGraphNode_t>(tasks.size());
  return hipSuccess;
}

}  // namespace

#define FAKE_API extern "C" __attribute__((visibility("default")))

FAKE_API hipError_t hipInit(unsigned) { return device_count() > 0 ? hipSuccess : hipErrorNoDevice; }
FAKE_API hipError_t hipGetDeviceCount(int* count) {
  *count = device_count();
  return *count > 0 ? hipSuccess : hipErrorNoDevice;
}
FAKE_API hipError_t hipSetDevice(int device) {
  if (device < 0 || device >= device_count()) return hipErrorInvalidDevice;
  current_device = device;
  return hipSuccess;
}
FAKE_API hipError_t hipGetDevice(int* device) {
  *device = current_device;
  return hipSuccess;
}
FAKE_API hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "Fake Device");
  std::strcpy(properties->gcnArchName, "fake");
  properties->totalGlobalMem = memory_bytes();
  properties->warpSize = 64;
  properties->arch.hasDoubles = 1;
  properties->pciBusID = device;
  return hipSuccess;
}
FAKE_API hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int) {
  if (attribute != hipDeviceAttributeWarpSize) return hipErrorInvalidValue;
  *value = 64;
  return hipSuccess;
}
FAKE_API hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = memory_bytes();
  return hipSuccess;
}
FAKE_API hipError_t hipHostMalloc(void** pointer, std::size_t bytes, unsigned) {
  *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *pointer != nullptr ? hipSuccess : hipErrorOutOfMemory;
}
FAKE_API hipError_t hipHostFree(void* pointer) {
  std::free(pointer);
  return hipSuccess;
}
FAKE_API hipError_t hipMalloc(void** pointer, std::size_t bytes) {
  if (far_mode().empty()) return hipHostMalloc(pointer, bytes, 0);
  *pointer = allocate_far((bytes + 4095) / 4096 * 4096);
  return *pointer != nullptr ? hipSuccess : hipErrorOutOfMemory;
}
FAKE_API hipError_t hipFree(void* pointer) {  // unlike the real one it does not wait for the device
  if (const auto tell = state().on_free.load(); tell != nullptr) tell(pointer);
  if (!free_far(pointer)) std::free(pointer);
  return hipSuccess;
}
FAKE_API hipError_t hipMemGetHandleForAddressRange(void* handle, hipDeviceptr_t pointer, std::size_t bytes,
                                                   int type, unsigned long long flags) {
  ++state().exports;
  const MutexLock lock(far_mutex);
  const auto found = far_memory.find(static_cast<char*>(pointer));
  if (far_mode() == "only" || found == far_memory.end()) return hipErrorNotSupported;
  if (type != kHipMemRangeHandleTypeDmaBufFd || flags != 0 || bytes != found->second.bytes)
    return hipErrorInvalidValue;
  *static_cast<int*>(handle) = ::dup(found->second.file);
  return hipSuccess;
}
FAKE_API hipError_t hipRemoteFlushWrites(int, int* always) {
  ++state().flushes;
  *always = far_mode() == "flush" ? 0 : 1;
  return far_mode() == "unseen" ? hipErrorNotSupported : hipSuccess;
}
FAKE_API tf::worker::FakeRuntimeState* fake_runtime_state() { return &state(); }
FAKE_API void* fake_runtime_seen(void* address) { return seen(address); }
FAKE_API hipError_t hipHostRegister(void*, std::size_t, unsigned) { return hipSuccess; }
FAKE_API hipError_t hipHostUnregister(void*) { return hipSuccess; }

FAKE_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
  *stream = reinterpret_cast<hipStream_t>(std::make_unique<Queue>().release());
  return hipSuccess;
}
FAKE_API hipError_t hipStreamCreate(hipStream_t* stream) { return hipStreamCreateWithFlags(stream, 0); }
FAKE_API hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, std::uint32_t words,
                                                 const std::uint32_t*) {
  state().mask_words = static_cast<int>(words);
  return hipStreamCreateWithFlags(stream, 0);
}
FAKE_API hipError_t hipStreamDestroy(hipStream_t stream) {
  const std::unique_ptr<Queue> owned(reinterpret_cast<Queue*>(stream));
  return hipSuccess;
}
FAKE_API hipError_t hipStreamQuery(hipStream_t stream) {
  return queue_of(stream).idle() ? hipSuccess : hipErrorNotReady;
}
FAKE_API hipError_t hipStreamSynchronize(hipStream_t stream) {
  Queue& queue = queue_of(stream);
  queue.wait(queue.added());
  return hipSuccess;
}
FAKE_API hipError_t hipDeviceSynchronize() { return hipStreamSynchronize(nullptr); }
FAKE_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data,
                                         unsigned) {
  queue_of(stream).add([=] { callback(stream, hipSuccess, data); });
  return hipSuccess;
}

FAKE_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  *event = reinterpret_cast<hipEvent_t>(std::make_unique<Event>().release());
  return hipSuccess;
}
FAKE_API hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, 0); }
FAKE_API hipError_t hipEventDestroy(hipEvent_t event) {
  const std::unique_ptr<Event> owned(&event_of(event));
  return hipSuccess;
}
FAKE_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  Queue& queue = queue_of(stream);
  event_of(event) = {&queue, queue.added()};
  return hipSuccess;
}
FAKE_API hipError_t hipEventQuery(hipEvent_t event) {
  const Event& state = event_of(event);
  return state.queue == nullptr || state.queue->passed(state.mark) ? hipSuccess : hipErrorNotReady;
}
FAKE_API hipError_t hipEventSynchronize(hipEvent_t event) {
  const Event state = event_of(event);
  if (state.queue != nullptr) state.queue->wait(state.mark);
  return hipSuccess;
}

FAKE_API hipError_t hipMemcpyAsync(void* target, const void* source, std::size_t bytes, hipMemcpyKind,
                                   hipStream_t stream) {
  ++state().copies;
  queue_of(stream).add([=, to = seen(target), from = seen(source)] { copy_payload(to, from, bytes); });
  return hipSuccess;
}
FAKE_API hipError_t hipMemcpy2DAsync(void* target, std::size_t target_pitch, const void* source,
                                     std::size_t source_pitch, std::size_t width, std::size_t height,
                                     hipMemcpyKind, hipStream_t stream) {
  if (target_pitch < width || source_pitch < width) return hipErrorInvalidValue;
  ++state().copies;
  queue_of(stream).add([=, to = seen(target), from = seen(source)] {
    copy_rows(to, target_pitch, from, source_pitch, width, height);
  });
  return hipSuccess;
}

FAKE_API hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  if (std::memcmp(image, "FAKE", 4) != 0) return hipErrorInvalidImage;
  *module = reinterpret_cast<hipModule_t>(std::make_unique<std::string>("module").release());
  return hipSuccess;
}
FAKE_API hipError_t hipModuleUnload(hipModule_t module) {
  const std::unique_ptr<std::string> owned(reinterpret_cast<std::string*>(module));
  return hipSuccess;
}
// "fill" has FillArguments, "many" a hundred numbers of eight bytes.
FAKE_API hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  if (std::strcmp(name, "many") == 0) {
    *function = reinterpret_cast<hipFunction_t>(&many_arguments);
    return hipSuccess;
  }
  if (std::strcmp(name, "fill") != 0) return hipErrorNotFound;
  *function = reinterpret_cast<hipFunction_t>(module);
  return hipSuccess;
}
FAKE_API hipError_t hipRemoteKernelParameter(hipFunction_t function, std::size_t index, std::size_t* offset,
                                             std::size_t* bytes) {
  const bool is_many = function == reinterpret_cast<hipFunction_t>(&many_arguments);
  if (index >= (is_many ? many_arguments : 3)) return hipErrorInvalidValue;
  *offset = is_many || index == 0 ? 8 * index : 4 + 4 * index;
  *bytes = is_many || index == 0 ? 8 : 4;
  return hipSuccess;
}
FAKE_API hipError_t hipModuleGetFunctionCount(unsigned* count, hipModule_t) {
  *count = 2;
  return hipSuccess;
}
FAKE_API hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t) {
  *value = 100 + static_cast<int>(attribute);
  return hipSuccess;
}
FAKE_API hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                          unsigned, unsigned, hipStream_t stream, void**, void** extra) {
  if (extra == nullptr || *static_cast<std::size_t*>(extra[3]) != sizeof(FillArguments))
    return hipErrorInvalidValue;
  FillArguments arguments;
  std::memcpy(&arguments, extra[1], sizeof arguments);
  queue_of(stream).add([=] { std::fill_n(seen(arguments.target), arguments.count, arguments.value); });
  return hipSuccess;
}

// Graphs whose nodes run in the order in which they were added. Executable ones cannot be updated in place.
FAKE_API hipError_t hipGraphCreate(hipGraph_t* graph, unsigned) {
  *graph = reinterpret_cast<hipGraph_t>(std::make_unique<Tasks>().release());
  return hipSuccess;
}
FAKE_API hipError_t hipGraphDestroy(hipGraph_t graph) {
  const std::unique_ptr<Tasks> owned(reinterpret_cast<Tasks*>(graph));
  return hipSuccess;
}
FAKE_API hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before,
                                         std::size_t count) {
  return add_task(node, graph, before, count, [] {});
}
FAKE_API hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                          const hipGraphNode_t* before, std::size_t count,
                                          const hipMemsetParams* fill) {
  return add_task(node, graph, before, count, [fill = *fill] {
    std::memset(fill.dst, static_cast<int>(fill.value), fill.width * fill.elementSize);
  });
}
FAKE_API hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t*, char*,
                                        std::size_t) {
  auto copy = std::make_unique<Tasks>(*reinterpret_cast<Tasks*>(graph));
  *exec = reinterpret_cast<hipGraphExec_t>(copy.release());
  return hipSuccess;
}
FAKE_API hipError_t hipGraphExecUpdate(hipGraphExec_t, hipGraph_t, hipGraphNode_t*,
                                       hipGraphExecUpdateResult* result) {
  *result = hipGraphExecUpdateErrorNotSupported;
  return hipErrorGraphExecUpdateFailure;
}
FAKE_API hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  const std::unique_ptr<Tasks> owned(reinterpret_cast<Tasks*>(exec));
  return hipSuccess;
}
FAKE_API hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  for (const auto& task : *reinterpret_cast<Tasks*>(exec)) queue_of(stream).add(task);
  return hipSuccess;
}
