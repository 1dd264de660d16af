// SPDX-License-Identifier: Apache-2.0
// Keeps account of what is registered, and of what stays so.
#include "worker/base/lasting_registrations.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "transport/base/mutex.h"
#include "worker/base/ranges.h"
#include "worker/base/runtime_version.h"

namespace tf::worker {
namespace {

constexpr std::size_t kPageBytes = 4096;

protocol::HipTable amds;  // its own functions

bool aborts_where_addresses_are_the_same() {
  static const bool aborts = is_older_than(kRocm56, amds);
  return aborts;
}

bool has_the_same_address_on_devices(void* pointer) {
  void* of_device = nullptr;
  return amds.hipHostGetDevicePointer(&of_device, pointer, 0) == hipSuccess && of_device == pointer;
}

class Registrations {
 public:
  hipError_t add(void* pointer, std::size_t bytes, unsigned flags) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const MutexLock lock(mutex_);
    const auto lasting = lasting_.find(address);
    const bool is_as_it_was = lasting != lasting_.end() && lasting->second == bytes;
    if (!is_as_it_was && overlaps(lasting_, address, bytes)) return hipErrorHostMemoryAlreadyRegistered;
    const hipError_t error = amds.hipHostRegister(pointer, bytes, flags);
    if (error == hipSuccess) registered_[address] = bytes;
    return error;
  }

  hipError_t remove(void* pointer) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const MutexLock lock(mutex_);
    const auto found = registered_.find(address);
    if (found == registered_.end()) return hipErrorHostMemoryNotRegistered;
    const std::uint64_t bytes = found->second;
    registered_.erase(found);
    if (!aborts_where_addresses_are_the_same() || !has_the_same_address_on_devices(pointer))
      return amds.hipHostUnregister(pointer);
    lasting_[address] = bytes;
    return hipSuccess;
  }

 private:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;  // bytes by address

  Mutex mutex_;
  Ranges registered_ TF_GUARDED_BY(mutex_);
  Ranges lasting_ TF_GUARDED_BY(mutex_);
};

// Events for several processes: the runtime registers memory for each, and unregisters it with the event.
class SharedEvents {
 public:
  // `own`: other processes open it, not this one.
  hipError_t add(const hipEvent_t* event, hipError_t created, bool own) {
    const MutexLock lock(mutex_);
    if (created == hipSuccess) events_[*event] = own;
    return created;
  }
  hipError_t destroy(hipEvent_t event) {
    const MutexLock lock(mutex_);
    const auto found = events_.find(event);
    if (found == events_.end()) return amds.hipEventDestroy(event);
    const bool own = found->second;
    events_.erase(found);
    if (!lasts()) return amds.hipEventDestroy(event);
    if (own) remove_file_of(event);
    return hipSuccess;  // the runtime keeps it
  }

 private:
  // By which others would still find it, and which nobody else removes. The handle is its name.
  static void remove_file_of(hipEvent_t event) {
    hipIpcEventHandle_t handle{};
    if (amds.hipIpcGetEventHandle(&handle, event) != hipSuccess) return;
    const std::string name(handle.reserved, ::strnlen(handle.reserved, sizeof handle.reserved));
    if (name.starts_with("/hip_event")) static_cast<void>(::shm_unlink(name.c_str()));
  }
  // Whether registrations last: tried once, with a page.
  static bool lasts() {
    static const bool result = aborts_where_addresses_are_the_same() && [] {
      alignas(kPageBytes) static std::byte page[kPageBytes];
      if (amds.hipHostRegister(page, sizeof page, hipHostRegisterPortable) != hipSuccess) return true;
      if (has_the_same_address_on_devices(page)) return true;
      return amds.hipHostUnregister(page) != hipSuccess;
    }();
    return result;
  }

  Mutex mutex_;
  std::map<hipEvent_t, bool> events_ TF_GUARDED_BY(mutex_);
};

// Never destroyed: the last ones are taken back when the process ends.
Registrations& registrations() {
  static Registrations* const all = new Registrations;
  return *all;
}
SharedEvents& shared_events() {
  static SharedEvents* const all = new SharedEvents;
  return *all;
}

}  // namespace

void mend_lasting_registrations(protocol::HipTable& hip) {
  amds = hip;
  hip.hipHostRegister = [](void* pointer, std::size_t bytes, unsigned flags) {
    return registrations().add(pointer, bytes, flags);
  };
  hip.hipHostUnregister = [](void* pointer) { return registrations().remove(pointer); };
  hip.hipEventCreateWithFlags = [](hipEvent_t* event, unsigned flags) {
    const hipError_t created = amds.hipEventCreateWithFlags(event, flags);
    return (flags & hipEventInterprocess) != 0 ? shared_events().add(event, created, true) : created;
  };
  hip.hipIpcOpenEventHandle = [](hipEvent_t* event, hipIpcEventHandle_t handle) {
    return shared_events().add(event, amds.hipIpcOpenEventHandle(event, handle), false);
  };
  hip.hipEventDestroy = [](hipEvent_t event) { return shared_events().destroy(event); };
}

}  // namespace tf::worker
