// SPDX-License-Identifier: Apache-2.0
// The state of the runtime: devices, live handles, known memory, and per-thread state.
//
// There is one Runtime per process, made by the first call and never destroyed: programs call HIP from
// destructors that run after main. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hipcore/memory/memory_advice.h"
#include "transport/base/mutex.h"
#include "worker/runtime/common/stream_handles.h"
#include "worker/runtime/common/thread_state.h"
#include "worker/runtime/cpu/handle_table.h"
#include "worker/runtime/cpu/kernel/device_heap.h"
#include "worker/runtime/cpu/late_work.h"
#include "worker/runtime/cpu/memory_map.h"
#include "worker/runtime/cpu/stream.h"

namespace tf::cpu {

class Event;
class Module;
class Function;
class Pool;
class VirtualMemory;

inline constexpr int kMaxDevices = 16;
// The limits that hipDeviceGetLimit answers at first: a HIP thread's stack (kFiberStackBytes), and AMD's
// heap.
inline constexpr std::size_t kStackLimitBytes = 256 << 10;
inline constexpr std::size_t kHeapLimitBytes = 8 << 20;

struct DeviceShape;

class Device : public HeapMemory {
 public:
  // `number`: its index among all, visible or not.
  Device(int ordinal, int number, const DeviceShape& shape);
  ~Device() override;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const { return ordinal_; }
  int number() const { return number_; }
  const hipDeviceProp_t& properties() const { return properties_; }
  std::size_t total_bytes() const { return total_bytes_; }
  std::size_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  // Takes memory from the device's size. False: there is not enough left.
  bool take_memory(std::size_t bytes) override;
  void give_memory(std::size_t bytes) override;
  std::size_t heap_limit_bytes() const override { return heap_bytes.load(std::memory_order_relaxed); }
  // What malloc() in kernels gives.
  DeviceHeap& heap() { return heap_; }

  // The legacy default stream, made on first use.
  std::shared_ptr<Stream> default_stream();
  Stream* default_stream_if_made() { return made_default_.load(std::memory_order_acquire); }
  std::vector<std::shared_ptr<Stream>> blocking_streams();
  // The blocking streams that have work left.
  std::vector<std::shared_ptr<Stream>> busy_streams();
  std::vector<std::shared_ptr<Stream>>
  streams();  // all, including the default one and closed ones that still run
  void add(std::shared_ptr<Stream> stream);
  void remove(const Stream& stream);
  // Waits for all streams.
  hipError_t synchronize();

  // A kernel has failed, and with it the device, for good. Nobody knows what it has written, so nothing runs
  // there any more, and every call that waits for the device or queries it says so. HIP has no way to recover
  // (CUDA, whose codes these are: "the process must be terminated and relaunched"). The first failure counts;
  // `what` is reported to the program's user.
  void fail(hipError_t error, const std::string& what);
  // hipSuccess, or the reason it failed. Acquire pairs with fail(): a thread that waited for the failed work
  // sees it.
  hipError_t failure() const { return static_cast<hipError_t>(failure_.load(std::memory_order_acquire)); }
  // Runs a stream's next work, unless the device has failed.
  template <typename Body>
  hipError_t run(Body&& body) const {
    const hipError_t failed = failure();
    return failed != hipSuccess ? failed : body();
  }

  Pool& default_pool() { return *default_pool_; }
  Pool* current_pool() { return current_pool_.load(std::memory_order_acquire); }
  // Release pairs with current_pool(): the pool is complete.
  void set_current_pool(Pool* pool) { current_pool_.store(pool, std::memory_order_release); }

  std::atomic<unsigned> flags{0};                          // hipSetDeviceFlags; relaxed, a setting
  std::atomic<std::uint32_t> peers_enabled{0};             // bit per device; relaxed, a setting
  std::atomic<std::size_t> stack_bytes{kStackLimitBytes};  // hipDeviceSetLimit; relaxed, settings
  std::atomic<std::size_t> heap_bytes{kHeapLimitBytes};
  std::atomic<bool> primary_context_retained{false};  // relaxed, a setting

 private:
  // Selects among the blocking streams.
  template <typename Wanted>
  std::vector<std::shared_ptr<Stream>> streams_that(Wanted wanted);

  const int ordinal_;
  const int number_;
  const std::size_t total_bytes_;
  hipDeviceProp_t properties_;
  std::atomic<std::size_t> used_bytes_{0};  // relaxed: a count, orders nothing
  std::atomic<int> failure_{hipSuccess};    // see fail()

  Mutex mutex_;
  std::shared_ptr<Stream> default_stream_ TF_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Stream>> streams_ TF_GUARDED_BY(mutex_);
  // Written under mutex_; read without it, to skip the list. Release pairs with the acquire of threads that
  // list streams.
  std::atomic<std::size_t> blocking_count_{0};
  // default_stream_, which lives as long as the device. Release pairs with default_stream_if_made().
  std::atomic<Stream*> made_default_{nullptr};

  std::unique_ptr<Pool> default_pool_;
  std::atomic<Pool*> current_pool_{nullptr};
  DeviceHeap heap_;
};

struct Settings {
  std::uint64_t call_ns = 0;      // HIP_CPU_CALL_NS: every API call takes at least this long
  double copy_ns_per_byte = 0.0;  // HIP_CPU_COPY_GBPS
};

class Runtime {
 public:
  static Runtime& get();

  // False in a process made by fork() from one that has a Runtime: it has none of the threads. Says so on
  // standard error, once.
  static bool is_usable() { return !forked.load(std::memory_order_relaxed) || refuse(); }

  int device_count() const { return static_cast<int>(devices_.size()); }
  bool valid_device(int ordinal) const { return ordinal >= 0 && ordinal < device_count(); }
  Device& device(int ordinal) { return *devices_[static_cast<std::size_t>(ordinal)]; }
  // By Device::number(); null: the program does not see that device.
  Device* device_of_number(int number);
  const Settings& settings() const { return settings_; }
  // Waits for all devices; returns the first of their failures.
  hipError_t synchronize();

  HandleTable<Stream, hipStream_t> streams;
  HandleTable<Event, hipEvent_t> events;
  HandleTable<Module, hipModule_t> modules;
  HandleTable<Function, hipFunction_t> functions;
  HandleTable<Pool, hipMemPool_t> pools;
  MemoryMap memory;
  hipcore::MemoryAdvice advice;
  LateWork late_work;
  std::atomic<std::uint64_t*> busy_time{
      nullptr};   // of all streams (hipRemoteShowBusyTime); null: not counted
  Mutex sharing;  // held while an allocation becomes a memory file
  // Adds the memory, and forgets what was said about its addresses while they were the program's own. As
  // MemoryMap::add().
  bool begin_memory(const Allocation& allocation);
  // Forgets the memory that starts here, and what was said about it, before anybody else can have its
  // addresses. Nothing: there is none.
  std::optional<Allocation> end_memory(const void* base);

  // Whether only devices use this memory, and only those of this process.
  bool is_devices_own(const Allocation& known) const;

  VirtualMemory& virtual_memory() { return *virtual_memory_; }

 private:
  Runtime();
  ~Runtime();
  static bool refuse();

  static constinit std::atomic<bool> forked;  // set while the process has one thread
  Settings settings_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<VirtualMemory> virtual_memory_;
};

// What every call touches.
struct ThreadState : runtime::ThreadState {
  bool has_ended = false;  // what it owned is gone; calls may still come
  KnownRange filled;       // last
};
namespace internal {
extern constinit thread_local ThreadState own_thread_state;
}  // namespace internal
inline ThreadState& thread_state() { return internal::own_thread_state; }

// A thread's other state. Its per-thread streams are closed when it ends.
struct ThreadOwned {
  ~ThreadOwned();

  std::array<std::shared_ptr<Stream>, kMaxDevices> streams;  // hipStreamPerThread
  RecentHandles<Stream, hipStream_t> recent_streams;
  RecentHandles<Event, hipEvent_t> recent_events;
  RecentHandles<Function, hipFunction_t> recent_functions;
};
ThreadOwned& thread_owned();

inline Device& current_device() { return Runtime::get().device(thread_state().device); }

using runtime::kLegacyStream;

// Resolves a hipStream_t on this thread: null and 1 are the current device's default stream, 2 is this
// thread's own. hipErrorContextIsDestroyed if there is no such stream (any more), like AMD's runtime.
hipError_t find_stream(hipStream_t handle, std::shared_ptr<Stream>& stream);
// The same for the cheapest calls. The result is valid until this thread's next call of this function; do not
// keep it.
hipError_t find_stream(hipStream_t handle, Found<Stream>& stream);
Found<Event> find_event(hipEvent_t handle);
Found<Function> find_function(hipFunction_t handle);

}  // namespace tf::cpu
