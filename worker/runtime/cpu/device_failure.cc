// SPDX-License-Identifier: Apache-2.0
// Reports failed kernels to the listener, or to stderr.
#include "worker/runtime/cpu/device_failure.h"

#include <cxxabi.h>
#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "hipcore/errors/error_text.h"
#include "transport/base/mutex.h"
#include "worker/runtime/common/extensions.h"
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/module.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

struct Listener {
  Mutex mutex;
  hipRemoteFailureListener tell TF_GUARDED_BY(mutex) = nullptr;
  void* argument TF_GUARDED_BY(mutex) = nullptr;
};
// Never destroyed: streams may run until the very end.
Listener& listener() {
  static Listener& one = *new Listener;
  return one;
}

std::string readable(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      ::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text ? std::string(text.get()) : name;
}

std::string place(const std::uint32_t (&index)[3]) {
  char text[48];
  std::snprintf(text, sizeof text, "(%u,%u,%u)", index[0], index[1], index[2]);
  return text;
}

std::string describe(const Kernel& kernel, const KernelFault& fault) {
  std::string what = "kernel " + readable(kernel.name);
  char address[48];
  std::snprintf(address, sizeof address, " at address %#lx", static_cast<unsigned long>(fault.address));
  switch (fault.signal) {
    case 0:
      what += fault.wrong_free
                  ? " failed: free() of what no malloc() of a kernel has given" + std::string(address)
                  : " failed: an assertion or a trap";
      break;
    case SIGSEGV:
    case SIGBUS:
      what += " crashed: memory that it may not use" + std::string(fault.address ? address : "");
      break;
    case SIGFPE: what += " crashed: integer division by zero"; break;
    default: what += " crashed: an instruction that the processor does not have"; break;
  }
  what += ", block " + place(fault.block);
  return fault.thread_is_known ? what + ", thread " + place(fault.thread) : what;
}

}  // namespace

void tell_failure(int device, hipError_t error, const std::string& what) {
  Listener& to = listener();
  const MutexLock lock(to.mutex);
  if (to.tell) return to.tell(to.argument, device, error, what.c_str());
  std::fprintf(stderr, "hip-cpu: device %d has failed: %s (%s)\n", device, what.c_str(),
               hipdata::error_text(error).name);
}

hipError_t run_kernel(Device& device, const Kernel& kernel, const Grid& grid, const void* arguments) {
  return device.run([&] {
    std::optional<KernelFault> fault;
    const hipError_t status = run_grid(kernel, grid, arguments, device.heap(), &fault);
    if (status != hipSuccess)
      device.fail(status,
                  fault ? describe(kernel, *fault) : "kernel " + readable(kernel.name) + " could not run");
    return status;
  });
}

}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" TF_CPU_EXPORT void hipRemoteTellFailures(hipRemoteFailureListener tell, void* argument) {
  Listener& to = listener();
  const tf::MutexLock lock(to.mutex);
  to.tell = tell;
  to.argument = argument;
}

extern "C" TF_CPU_EXPORT void hipRemoteShowBusyTime(std::uint64_t* nanoseconds) {
  Runtime::get().busy_time.store(nanoseconds, std::memory_order_release);  // pairs with Stream::count_busy()
}

extern "C" TF_CPU_EXPORT hipError_t hipRemoteShareProcessors(int descriptor, std::uint32_t slot,
                                                             std::uint32_t weight) {
  return share_processors(descriptor, slot, weight);
}

extern "C" TF_CPU_EXPORT int hipRemoteRunsOnHost(void) { return 1; }
