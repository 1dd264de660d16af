// SPDX-License-Identifier: Apache-2.0
// Host memory and what pointers are.
#include <algorithm>
#include <cstring>

#include "proxy/gen/local.h"
#include "proxy/local/support.h"
#include "proxy/log.h"

namespace tf::proxy::local {
namespace {

constexpr unsigned kMallocFlagsKnown = hipHostMallocPortable | hipHostMallocMapped |
                                       hipHostMallocWriteCombined | hipHostMallocNumaUser |
                                       hipHostMallocCoherent | hipHostMallocNonCoherent;
constexpr unsigned kRegisterFlagsKnown = hipHostRegisterPortable | hipHostRegisterMapped |
                                         hipHostRegisterIoMemory | hipExtHostRegisterCoarseGrained;
constexpr unsigned kPointerAttributesMax = 64;  // of one hipDrvPointerGetAttributes

// What is known about any pointer; false: nothing.
struct Known {
  bool on_device = false;
  int device = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  unsigned flags = 0;
};

bool look_up(Session& session, const void* pointer, Known& known) {
  if (auto found = session.device_memory().find(to_raw(pointer))) {
    known = {true, found->device, found->base, found->bytes, 0};
    return true;
  }
  auto host = session.host_memory().find(pointer);
  if (!host) return false;
  known = {false, host->device, host->base, host->bytes, host->flags};
  return true;
}

template <typename Value>
hipError_t answer(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return hipSuccess;
}

hipError_t attribute_of(const Known& known, hipPointer_attribute attribute, const void* pointer, void* data) {
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(data, known.on_device ? hipMemoryTypeDevice : hipMemoryTypeHost);
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return known.on_device ? answer(data, pointer) : hipErrorInvalidValue;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      return known.on_device ? hipErrorInvalidValue : answer(data, pointer);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(data, known.device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(data, known.base);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(data, known.bytes);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return answer(data, 0u);
    case HIP_POINTER_ATTRIBUTE_MAPPED: return answer(data, known.on_device ? 1u : 0u);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned int flags) {
  if (pointer == nullptr || (flags & ~kMallocFlagsKnown) != 0) return note_error(hipErrorInvalidValue);
  bool both = (flags & hipHostMallocCoherent) != 0 && (flags & hipHostMallocNonCoherent) != 0;
  if (both) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  *pointer = nullptr;
  if (bytes == 0) return note_error(hipSuccess);
  return note_error(session->host_memory().allocate(thread_state().device, bytes, flags, *pointer));
}

hipError_t hipHostFree(void* pointer) {
  if (pointer == nullptr) return note_error(hipSuccess);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  auto found = session->host_memory().find(pointer);
  if (!found || found->base != to_raw(pointer) || found->registered) return note_error(hipErrorInvalidValue);
  // Asynchronous copies may still read or write it.
  session->transfers().await_through(UINT64_MAX);
  return note_error(session->host_memory().release(pointer));
}

// Kernels cannot reach host memory yet: better said here than by a fault in the kernel.
hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned int flags) {
  if (device_pointer == nullptr || host_pointer == nullptr || flags != 0)
    return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  if (!session->host_memory().find(host_pointer)) return note_error(hipErrorInvalidValue);
  static LogOnce told;
  told.line("hipHostGetDevicePointer: kernels cannot access host memory remotely yet (hipErrorNotSupported)");
  return note_error(hipErrorNotSupported);
}

hipError_t hipHostGetFlags(unsigned int* flags, void* pointer) {
  if (flags == nullptr || pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  auto found = session->host_memory().find(pointer);
  if (!found) return note_error(hipErrorInvalidValue);
  *flags = found->flags;
  return note_error(hipSuccess);
}

hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  if (pointer == nullptr || bytes == 0 || (flags & ~kRegisterFlagsKnown) != 0)
    return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  return note_error(session->host_memory().add(thread_state().device, pointer, bytes, flags));
}

hipError_t hipHostUnregister(void* pointer) {
  if (pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  session->transfers().await_through(UINT64_MAX);
  return note_error(session->host_memory().remove(pointer));
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  if (attributes == nullptr || pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  Known known;
  if (!look_up(*session, pointer, known)) return note_error(hipErrorInvalidValue);
  *attributes = {};
  attributes->memoryType = known.on_device ? hipMemoryTypeDevice : hipMemoryTypeHost;
  attributes->device = known.device;
  attributes->devicePointer = known.on_device ? const_cast<void*>(pointer) : nullptr;
  attributes->hostPointer = known.on_device ? nullptr : const_cast<void*>(pointer);
  attributes->allocationFlags = known.flags;
  return note_error(hipSuccess);
}

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  if (data == nullptr || pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  Known known;
  if (!look_up(*session, pointer, known)) return note_error(hipErrorInvalidValue);
  return note_error(attribute_of(known, attribute, pointer, data));
}

// Attributes that do not apply are left zero; only an unknown pointer is an error.
hipError_t hipDrvPointerGetAttributes(unsigned int count, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t pointer) {
  bool sane = attributes != nullptr && data != nullptr && pointer != nullptr && count != 0;
  if (!sane || count > kPointerAttributesMax) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  Known known;
  if (!look_up(*session, pointer, known)) return note_error(hipErrorInvalidValue);
  for (unsigned i = 0; i < count; ++i) {
    if (data[i] == nullptr) return note_error(hipErrorInvalidValue);
    (void)attribute_of(known, attributes[i], pointer, data[i]);
  }
  return note_error(hipSuccess);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  if (base == nullptr || bytes == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  auto found = session->device_memory().find(to_raw(pointer));
  if (!found) return note_error(hipErrorInvalidDevicePointer);
  *base = reinterpret_cast<hipDeviceptr_t>(found->base);
  *bytes = found->bytes;
  return note_error(hipSuccess);
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  if (bytes == nullptr) return note_error(hipErrorInvalidValue);
  *bytes = 0;
  if (pointer == nullptr) return note_error(hipSuccess);
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  if (session == nullptr) return note_error(error);
  Known known;
  if (!look_up(*session, pointer, known)) return note_error(hipErrorInvalidValue);
  *bytes = known.bytes;
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local
