// SPDX-License-Identifier: Apache-2.0
// The state of the runtime: the driver, its devices and their contexts, and per-thread state.
//
// There is one Runtime per process, made by the first call and never destroyed: programs call HIP from
// destructors that run after main. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hipcore/memory/memory_advice.h"
#include "transport/base/mutex.h"
#include "worker/runtime/common/stream_handles.h"
#include "worker/runtime/common/thread_state.h"
#include "worker/runtime/cuda/driver.h"
#include "worker/runtime/cuda/host_memory.h"
#include "worker/runtime/cuda/late_work.h"
#include "worker/runtime/cuda/result.h"

namespace tf::cuda {

struct Device {
  driver::Device handle = 0;
  hipDeviceProp_t properties{};
  driver::ByteId uuid{};
  std::atomic<unsigned> flags{0};                 // hipSetDeviceFlags; relaxed, a setting
  std::atomic<driver::Context> context{nullptr};  // the primary one, once retained; see Runtime::context()
  hipcore::MemoryAdvice advice;                   // of how coherent its memory is
  std::atomic<driver::Address> mark{nullptr};     // a byte that means nothing; see Runtime::mark()
};

// What every call touches.
struct ThreadState : runtime::ThreadState {
  std::uint32_t ready_epoch = 0;  // the device's context is current while this equals the runtime's epoch
};

namespace internal {
extern driver::Driver table;
// Grows when contexts that threads have made current are gone. Relaxed: a thread whose context is being reset
// by another one has lost in any case.
extern std::atomic<std::uint32_t> epoch;
// Initial-exec, like the program's own: accessed without a call, which every function would make. The loader
// reserves room for variables this small in libraries that are loaded late.
extern constinit thread_local ThreadState own_thread_state __attribute__((tls_model("initial-exec")));
}  // namespace internal

// Filled once a thread is ready, or after Runtime::get().
inline const driver::Driver& cu() { return internal::table; }
inline ThreadState& thread_state() { return internal::own_thread_state; }

class Runtime {
 public:
  static Runtime& get();

  // hipSuccess if there are devices; else the error of calls that need one, and the reason in words.
  hipError_t status() const { return status_; }
  const std::string& reason() const { return reason_; }

  int device_count() const { return static_cast<int>(devices_.size()); }
  bool valid_device(int ordinal) const { return ordinal >= 0 && ordinal < device_count(); }
  Device& device(int ordinal) { return *devices_[static_cast<std::size_t>(ordinal)]; }

  // The device's primary context, made on first use.
  hipError_t context(int ordinal, driver::Context& context);
  // -1 if it belongs to no device.
  int ordinal_of(driver::Context context) const;
  // Makes the context of the thread's device current. Slow; for threads that are not ready.
  hipError_t make_ready(ThreadState& self);
  // Destroys everything on the device; the next call makes a new context.
  hipError_t reset(int ordinal);
  // Waits for every device that has a context. The thread's device stays current.
  hipError_t synchronize_all();

  // A byte of the device's memory, made on first use, for work that has no effect. REQUIRES: its context is
  // current
  hipError_t mark(int ordinal, driver::Address& byte);

  HostMemory host_memory;
  LateWork late_work;
  // What was said of memory that is about to be freed.
  void forget_advice(void* pointer);

 private:
  Runtime();

  hipError_t status_ = hipErrorNoDevice;
  std::string reason_;
  std::vector<std::unique_ptr<Device>> devices_;
  Mutex mutex_;  // for making and resetting contexts
};

inline bool is_ready(const ThreadState& self) {
  return self.ready_epoch == internal::epoch.load(std::memory_order_relaxed);
}

// Makes another device current for the calling thread; its context follows with the next call that needs it.
inline void select_device(ThreadState& self, int ordinal) {
  if (self.device == ordinal) return;
  self.device = ordinal;
  self.ready_epoch = 0;
}

inline Device& current_device() { return Runtime::get().device(thread_state().device); }

using runtime::kLegacyStream;

}  // namespace tf::cuda
