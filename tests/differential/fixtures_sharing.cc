// SPDX-License-Identifier: Apache-2.0
// What other processes and other APIs share: handles of memory, pools and events, descriptors, external
// memory.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/differential/case.h"

namespace tf::differential {
namespace {

constexpr std::size_t kSharedBytes = 4096;
constexpr int kFile = hipMemHandleTypePosixFileDescriptor;

Value ipc_memory(Case& c) {
  hipIpcMemHandle_t handle{};
  c.check(c.api("hipIpcGetMemHandle", &handle, c.handle<void*>("device")), "hipIpcGetMemHandle");
  return by_value(handle);
}
Value ipc_event(Case& c) {
  hipIpcEventHandle_t handle{};
  c.check(c.api("hipIpcGetEventHandle", &handle, c.handle<hipEvent_t>("event_shared")),
          "hipIpcGetEventHandle");
  return by_value(handle);
}

// A descriptor that is passed as a number, and closed after the case.
void close_after(Case& c, int descriptor) {
  if (descriptor >= 0) c.after([descriptor] { ::close(descriptor); });
}
Value descriptor_of_pool(Case& c) {
  int descriptor = -1;
  c.check(c.api("hipMemPoolExportToShareableHandle", &descriptor, c.handle<hipMemPool_t>("pool_shared"),
                kFile, 0U),
          "hipMemPoolExportToShareableHandle");
  close_after(c, descriptor);
  return number(static_cast<std::uintptr_t>(descriptor));
}
// The address of one: hipMemImportFromShareableHandle takes that.
Value descriptor_of_memory(Case& c) {
  int* const descriptor = c.keep<int>();
  *descriptor = -1;
  c.check(c.api("hipMemExportToShareableHandle", descriptor,
                c.handle<hipMemGenericAllocationHandle_t>("allocation"), kFile, 0ULL),
          "hipMemExportToShareableHandle");
  close_after(c, *descriptor);
  return pointer(descriptor);
}
Value descriptor_closed(Case& c) {
  int* const descriptor = c.keep<int>();
  *descriptor = 0x7fff;
  return pointer(descriptor);
}
// What is written there is a descriptor, and closed after the case.
Value out_descriptor(Case& c) {
  int* const target = static_cast<int*>(c.block(kSharedBytes, 0xee));
  c.after([target] {
    if (*target >= 0) ::close(*target);
  });
  return pointer(target);
}

hipMemPool_t new_shared_pool(Case& c) {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.handleTypes = hipMemHandleTypePosixFileDescriptor;
  properties.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t pool = nullptr;
  c.check(c.api("hipMemPoolCreate", &pool, &properties), "hipMemPoolCreate");
  return pool;
}
Value pool_imported(Case& c) {
  hipMemPool_t pool = nullptr;
  c.check(
      c.api("hipMemPoolImportFromShareableHandle", &pool, c.handle<void*>("descriptor_of_pool"), kFile, 0U),
      "hipMemPoolImportFromShareableHandle");
  return ended(c, pool, "hipMemPoolDestroy");
}
Value device_shared(Case& c) {
  void* memory = nullptr;
  c.check(c.api("hipMallocFromPoolAsync", &memory, kSharedBytes, c.handle<hipMemPool_t>("pool_shared"),
                hipStream_t{}),
          "hipMallocFromPoolAsync");
  c.check(c.api("hipStreamSynchronize", hipStream_t{}), "hipStreamSynchronize");
  return ended(c, memory, "hipFree");
}
Value pointer_export(Case& c) {
  auto* const data = c.keep<hipMemPoolPtrExportData>();
  c.check(c.api("hipMemPoolExportPointer", data, c.handle<void*>("device_shared")),
          "hipMemPoolExportPointer");
  return pointer(data);
}

// An import takes the descriptor; if there is none, the process keeps it to its end.
Value external_handle(Case& c) {
  auto* const description = c.keep<hipExternalMemoryHandleDesc>();
  description->type = hipExternalMemoryHandleTypeOpaqueFd;
  description->handle.fd = ::memfd_create("external", MFD_CLOEXEC);
  description->size = kSharedBytes;
  if (::ftruncate(description->handle.fd, kSharedBytes) != 0) c.troubles += " ftruncate";
  return pointer(description);
}
Value external_handle_odd(Case& c) {
  auto* const description = c.keep<hipExternalMemoryHandleDesc>();
  const int type = 77;
  std::memcpy(&description->type, &type, sizeof type);
  description->handle.fd = -1;
  description->size = kSharedBytes;
  return pointer(description);
}
hipExternalMemory_t new_external(Case& c) {
  hipExternalMemory_t memory = nullptr;
  c.check(c.api("hipImportExternalMemory", &memory,
                c.handle<const hipExternalMemoryHandleDesc*>("external_handle")),
          "hipImportExternalMemory");
  return memory;
}
template <std::size_t kSize>
Value external_buffer(Case& c) {
  auto* const description = c.keep<hipExternalMemoryBufferDesc>();
  description->size = kSize;
  return pointer(description);
}

}  // namespace

void add_sharing(Fixtures& all) {
  all["ipc_memory"] = ipc_memory;
  all["ipc_event"] = ipc_event;
  all["ipc_zeros"] = [](Case&) { return Value{}; };
  all["descriptor_of_pool"] = descriptor_of_pool;
  all["descriptor_of_memory"] = descriptor_of_memory;
  all["descriptor_closed"] = descriptor_closed;
  all["out_descriptor"] = out_descriptor;
  all["pool_shared"] = [](Case& c) { return ended(c, new_shared_pool(c), "hipMemPoolDestroy"); };
  all["pool_imported"] = pool_imported;
  all["device_shared"] = device_shared;
  all["pointer_export"] = pointer_export;
  all["external_handle"] = external_handle;
  all["external_handle_odd"] = external_handle_odd;
  all["external"] = [](Case& c) { return ended(c, new_external(c), "hipDestroyExternalMemory"); };
  all["external_destroyed"] = [](Case& c) { return gone(c, new_external(c), "hipDestroyExternalMemory"); };
  all["external_buffer"] = external_buffer<kSharedBytes>;
  all["external_buffer_long"] = external_buffer<2 * kSharedBytes>;
}

}  // namespace tf::differential
