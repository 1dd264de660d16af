// SPDX-License-Identifier: Apache-2.0
// Devices, threads' state, and stream handles of the CPU runtime.
#include "worker/runtime/cpu/runtime.h"

#include <pthread.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "hipcore/devices/visible_devices.h"
#include "transport/base/mutex.h"
#include "transport/base/processor.h"
#include "worker/runtime/cpu/device_failure.h"
#include "worker/runtime/cpu/event.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/module.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/properties.h"
#include "worker/runtime/cpu/virtual_memory.h"

namespace tf::cpu {
namespace {

// The variable's value; `fallback` if it is unset, not a number or outside the limits.
unsigned long long setting(const char* name, unsigned long long fallback, unsigned long long low,
                           unsigned long long high) {
  const char* const text = std::getenv(name);
  if (!text || *text < '0' || *text > '9') return fallback;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  return *end == '\0' && value >= low && value <= high ? value : fallback;
}

double copy_cost() {
  const char* const text = std::getenv("HIP_CPU_COPY_GBPS");
  const double gigabytes_per_second = text ? std::strtod(text, nullptr) : 0.0;
  return gigabytes_per_second > 0.0 ? 1.0 / gigabytes_per_second : 0.0;
}

std::size_t half_of_memory(int devices) {
  struct sysinfo info = {};
  if (::sysinfo(&info) != 0) return std::size_t{1} << 30;
  return static_cast<std::size_t>(info.totalram) * info.mem_unit / 2 / static_cast<std::size_t>(devices);
}

// The numbers of the devices that the program sees, of `count`.
std::vector<std::size_t> visible_devices(int count) {
  std::vector<std::string> uuids;
  for (int number = 0; number < count; ++number) {
    std::array<std::uint8_t, sizeof(hipUUID::bytes)> bytes;
    std::memcpy(bytes.data(), device_uuid(number).bytes, bytes.size());
    uuids.push_back(hipcore::uuid_text(bytes));
  }
  return hipcore::choose_visible(hipcore::read_visible_devices(), uuids);
}

}  // namespace

Device::Device(int ordinal, int number, const DeviceShape& shape)
    : ordinal_(ordinal),
      number_(number),
      total_bytes_(shape.total_bytes),
      properties_(make_properties(number, shape)),
      default_pool_(std::make_unique<Pool>(*this)),
      current_pool_(default_pool_.get()),
      heap_(*this, total_bytes_) {}

Device::~Device() = default;

bool Device::take_memory(std::size_t bytes) {
  std::size_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > total_bytes_ - used) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void Device::give_memory(std::size_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

std::shared_ptr<Stream> Device::default_stream() {
  if (Stream* const made = default_stream_if_made()) return made->shared_from_this();
  const MutexLock lock(mutex_);
  if (!default_stream_) {
    default_stream_ = std::make_shared<Stream>(*this, hipStreamDefault, 0, true);
    made_default_.store(default_stream_.get(), std::memory_order_release);
  }
  return default_stream_;
}

std::vector<std::shared_ptr<Stream>> Device::blocking_streams() {
  return streams_that([](const Stream& stream) { return stream.is_blocking(); });
}

std::vector<std::shared_ptr<Stream>> Device::busy_streams() {
  return streams_that([](const Stream& stream) { return stream.is_blocking() && !stream.done(); });
}

template <typename Wanted>
std::vector<std::shared_ptr<Stream>> Device::streams_that(Wanted wanted) {
  std::vector<std::shared_ptr<Stream>> found;
  if (blocking_count_.load(std::memory_order_acquire) == 0) return found;
  const MutexLock lock(mutex_);
  for (const auto& stream : streams_)
    if (wanted(*stream)) found.push_back(stream);
  return found;
}

std::vector<std::shared_ptr<Stream>> Device::streams() {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Stream>> all = streams_;
  if (default_stream_) all.push_back(default_stream_);
  return all;
}

void Device::add(std::shared_ptr<Stream> stream) {
  const MutexLock lock(mutex_);
  if (stream->is_blocking()) blocking_count_.fetch_add(1, std::memory_order_release);
  streams_.push_back(std::move(stream));
}

void Device::remove(const Stream& stream) {
  std::shared_ptr<Stream> last;  // destroyed outside the lock
  const MutexLock lock(mutex_);
  const auto found =
      std::find_if(streams_.begin(), streams_.end(), [&](const auto& held) { return held.get() == &stream; });
  if (found == streams_.end()) return;
  last = std::move(*found);
  streams_.erase(found);
  if (last->is_blocking()) blocking_count_.fetch_sub(1, std::memory_order_release);
}

hipError_t Device::synchronize() {
  for (const auto& stream : streams()) stream->last().wait();
  return failure();
}

void Device::fail(hipError_t error, const std::string& what) {
  int none = hipSuccess;
  if (failure_.compare_exchange_strong(none, error, std::memory_order_acq_rel))
    tell_failure(ordinal_, error, what);
}

Runtime& Runtime::get() {
  static Runtime& runtime = *new Runtime;  // never destroyed, see the header
  return runtime;
}

Runtime::Runtime() : virtual_memory_(std::make_unique<VirtualMemory>()) {
  // If this fails, for lack of memory, a call in a child may hang.
  static_cast<void>(
      ::pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); }));
  settings_.call_ns = setting("HIP_CPU_CALL_NS", 0, 0, 1'000'000'000);
  settings_.copy_ns_per_byte = copy_cost();
  const auto devices = static_cast<int>(setting("HIP_CPU_DEVICES", 1, 0, kMaxDevices));
  if (devices == 0) return;
  DeviceShape shape;
  shape.devices = devices;
  const unsigned cores = std::max(1u, usable_processors() / static_cast<unsigned>(devices));
  shape.multiprocessors =
      static_cast<int>(setting("HIP_CPU_MULTIPROCESSORS", cores, 1, unsigned{kMultiprocessorsMax}));
  shape.total_bytes =
      setting("HIP_CPU_MEMORY_BYTES", half_of_memory(devices), kHugePage_bytes, std::size_t{1} << 46);
  // Copies take as long as over a bus: then nothing may bypass them.
  shape.behind_bus = settings_.copy_ns_per_byte > 0.0;
  for (const std::size_t number : visible_devices(devices))
    devices_.push_back(std::make_unique<Device>(device_count(), static_cast<int>(number), shape));
}

Runtime::~Runtime() = default;

constinit std::atomic<bool> Runtime::forked{false};

bool Runtime::refuse() {
  static std::atomic<bool> told{false};
  if (!told.exchange(true, std::memory_order_relaxed))
    std::fprintf(
        stderr,
        "hip-cpu: a process made by fork() cannot use HIP after its parent has; start HIP in the child only, "
        "or use exec\n");
  return false;
}

Device* Runtime::device_of_number(int number) {
  for (const std::unique_ptr<Device>& device : devices_)
    if (device->number() == number) return device.get();
  return nullptr;
}

hipError_t Runtime::synchronize() {
  hipError_t first = hipSuccess;
  for (const std::unique_ptr<Device>& device : devices_) {
    const hipError_t status = device->synchronize();
    if (first == hipSuccess) first = status;
  }
  return first;
}

bool Runtime::begin_memory(const Allocation& allocation) {
  if (!memory.add(allocation)) return false;
  advice.forget(allocation.base, allocation.bytes);
  return true;
}

std::optional<Allocation> Runtime::end_memory(const void* base) {
  const auto removed = memory.remove(base);
  if (removed) advice.forget(removed->base, removed->bytes);
  return removed;
}

bool Runtime::is_devices_own(const Allocation& known) const {
  switch (known.kind) {
    case MemoryKind::kDevice: return known.flags == hipDeviceMallocDefault && known.descriptor < 0;
    case MemoryKind::kMapped: return !virtual_memory_->may_be_shared();
    case MemoryKind::kGlobal: return true;
    default: return false;
  }
}

ThreadOwned::~ThreadOwned() {
  thread_state().has_ended = true;
  for (const auto& stream : streams) {
    if (!stream) continue;
    if (graph::Library* graphs = runtime::capturing()) graphs->forget_stream(reference(*stream).id);
    stream->close();
  }
}

constinit thread_local ThreadState internal::own_thread_state;

ThreadOwned& thread_owned() {
  static thread_local ThreadOwned owned;
  return owned;
}

hipError_t find_stream(hipStream_t handle, std::shared_ptr<Stream>& stream) {
  Runtime& runtime = Runtime::get();
  if (runtime.device_count() == 0) return hipErrorNoDevice;
  if (handle == nullptr || handle == kLegacyStream) {
    stream = current_device().default_stream();
    return hipSuccess;
  }
  if (handle != hipStreamPerThread) {
    stream = runtime.streams.find(handle);
    return stream ? hipSuccess : hipErrorContextIsDestroyed;
  }
  auto& own = thread_owned().streams[static_cast<std::size_t>(thread_state().device)];
  if (!own) {
    own = std::make_shared<Stream>(current_device(), hipStreamDefault, 0, false);
    current_device().add(own);
  }
  stream = own;
  return hipSuccess;
}

namespace {

template <typename Object, typename Handle>
Found<Object> find_again(const HandleTable<Object, Handle>& table,
                         RecentHandles<Object, Handle> ThreadOwned::*recent, Handle handle) {
  if (thread_state().has_ended) return Found<Object>(table.find(handle));
  return Found<Object>((thread_owned().*recent).find(table, handle));
}

}  // namespace

hipError_t find_stream(hipStream_t handle, Found<Stream>& stream) {
  if (handle == nullptr || handle == kLegacyStream || handle == hipStreamPerThread) {
    std::shared_ptr<Stream> found;
    const hipError_t status = find_stream(handle, found);
    stream = Found<Stream>(std::move(found));
    return status;
  }
  stream = find_again(Runtime::get().streams, &ThreadOwned::recent_streams, handle);
  return stream ? hipSuccess : hipErrorContextIsDestroyed;
}

Found<Event> find_event(hipEvent_t handle) {
  return find_again(Runtime::get().events, &ThreadOwned::recent_events, handle);
}

Found<Function> find_function(hipFunction_t handle) {
  return find_again(Runtime::get().functions, &ThreadOwned::recent_functions, handle);
}

}  // namespace tf::cpu
