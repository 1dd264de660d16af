// SPDX-License-Identifier: Apache-2.0
// hipMalloc and its relatives: cut from leases, without asking the worker.
#include <cstdint>

#include "hipcore/abi/rules.h"
#include "hipcore/array/place.h"
#include "hipcore/memory/device_flags.h"
#include "proxy/base/log.h"
#include "proxy/exported/sharing.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

// Rows of pitched allocations start on this boundary, as on AMD's devices.
constexpr std::size_t kPitchAlignmentBytes = 256;

hipError_t allocate(ApiCall& call, void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  *pointer = nullptr;
  if (bytes == 0) return call.finish(hipSuccess);
  std::uint64_t address = 0;
  hipError_t error = call.client().device_memory().allocate(call.device(), bytes, address);
  if (error == hipSuccess) *pointer = reinterpret_cast<void*>(address);
  return call.finish(error);
}

// What was asked for can be queried (hipMemRangeGetAttribute). If there is no room to remember it, the
// allocation stands all the same.
void remember_coherency(ApiCall& call, void* pointer, std::size_t bytes, unsigned flags) {
  const hipcore::AdvisedRange all{to_raw(pointer), bytes, to_raw(pointer), bytes};
  static_cast<void>(call.client().advice().set_coherency(all, hipcore::coherency_of_device(flags)));
}

// Memory that devices and the host use, or that other devices see while kernels run, and other processes can
// open. hipErrorNotSupported: there is none. `theirs`: the program's flags, which `flags` stand for.
hipError_t allocate_fine(ApiCall& call, void** pointer, std::size_t bytes, unsigned theirs, unsigned flags) {
  Client& client = call.client();
  if (flags == hipMallocSignalMemory || !client.is_fine_grained_on_device())
    return client.host_allocations().allocate(HostRange::Kind::kFineGrained, call.device(), bytes, flags,
                                              *pointer);
  std::uint64_t address = 0;
  const hipError_t error = client.device_memory().allocate_alone(call.device(), bytes, theirs, address);
  if (error != hipSuccess) return error;
  *pointer = reinterpret_cast<void*>(address);
  remember_coherency(call, *pointer, bytes, flags);
  return hipSuccess;
}

// False: no such size exists.
bool pitched_size(std::size_t width, std::size_t height, std::size_t depth, std::size_t& pitch,
                  std::size_t& bytes) {
  if (width > SIZE_MAX - kPitchAlignmentBytes) return false;
  pitch = (width + kPitchAlignmentBytes - 1) / kPitchAlignmentBytes * kPitchAlignmentBytes;
  return !__builtin_mul_overflow(pitch, height, &bytes) && !__builtin_mul_overflow(bytes, depth, &bytes);
}

}  // namespace

hipError_t hipMalloc(ApiCall& call, void** pointer, size_t bytes) { return allocate(call, pointer, bytes); }

hipError_t hipExtMallocWithFlags(ApiCall& call, void** pointer, size_t bytes, unsigned int theirs) {
  const auto asked = hipcore::device_flags_of(theirs, bytes, abi::kRules.major);
  if (pointer == nullptr || !asked) return call.finish(hipErrorInvalidValue);
  const unsigned flags = *asked;
  const bool signal = flags == hipMallocSignalMemory;
  if (!call.connected()) return call.finish();
  // Where device memory is mapped here, all of it is what devices and the host use.
  if (flags != hipDeviceMallocDefault && bytes != 0 && !call.client().lease_mappings().complete()) {
    const hipError_t made = allocate_fine(call, pointer, bytes, theirs, flags);
    const bool exists = signal || call.client().snapshot().fine_grained != 0;
    if (exists || made != hipErrorNotSupported) return call.finish(made);
  }
  // Ordinary memory of the device is of both kinds here, or all that there is.
  const hipError_t error = allocate(call, pointer, bytes);
  if (error == hipSuccess && *pointer != nullptr && flags != hipDeviceMallocDefault)
    remember_coherency(call, *pointer, bytes, flags);
  return error;
}

hipError_t hipMallocPitch(ApiCall& call, void** pointer, size_t* pitch, size_t width, size_t height) {
  std::size_t bytes = 0;
  std::size_t row = 0;
  if (pointer == nullptr || pitch == nullptr) return call.finish(hipErrorInvalidValue);
  *pointer = nullptr;
  if (width == 0 || height == 0) return call.finish(hipSuccess);
  if (!pitched_size(width, height, 1, row, bytes)) return call.finish(hipErrorOutOfMemory);
  hipError_t error = allocate(call, pointer, bytes);
  if (error == hipSuccess) *pitch = row;
  return error;
}

hipError_t hipMemAllocPitch(ApiCall& call, hipDeviceptr_t* pointer, size_t* pitch, size_t width_bytes,
                            size_t height, unsigned int element_bytes) {
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
    return call.finish(hipErrorInvalidValue);
  return custom::hipMallocPitch(call, pointer, pitch, width_bytes, height);
}

hipError_t hipMalloc3D(ApiCall& call, hipPitchedPtr* pointer, hipExtent extent) {
  std::size_t bytes = 0;
  std::size_t row = 0;
  if (pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!pitched_size(extent.width, extent.height, extent.depth, row, bytes))
    return call.finish(hipErrorOutOfMemory);
  void* base = nullptr;
  hipError_t error = allocate(call, &base, bytes);
  if (error == hipSuccess) *pointer = hipPitchedPtr{base, row, extent.width, extent.height};
  return error;
}

hipError_t hipMallocManaged(ApiCall& call, void** pointer, size_t bytes, unsigned int flags) {
  const bool known = flags == hipMemAttachGlobal || flags == hipMemAttachHost;
  if (pointer == nullptr || !known || bytes == 0) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  *pointer = nullptr;
  hipError_t error =
      client.host_allocations().allocate(HostRange::Kind::kManaged, call.device(), bytes, flags, *pointer);
  if (error == hipErrorNotSupported) {
    static LogOnce told;
    told.line("hipMallocManaged: the host window is not free in this process (hipErrorNotSupported)");
  }
  return call.finish(error);
}

// The memory is host memory on both sides. What has changed there travels to the worker now, ahead of the
// work that uses it. To the host everything travels when the program waits, asked for or not.
hipError_t hipMemPrefetchAsync(ApiCall& call, const void* pointer, size_t bytes, int device,
                               hipStream_t stream) {
  if (!call.connected()) return call.finish();
  const auto memory = call.client().advised(pointer, bytes);
  if (!memory || !memory->managed || !memory->range.is_sound()) return call.finish(hipErrorInvalidValue);
  std::int32_t ordinal = 0;
  if (device != hipCpuDeviceId && !call.ordinal(device, ordinal)) return call.finish();
  std::uint64_t handle = 0;
  if (!call.translate(protocol::HandleKind::kStream, stream, handle)) return call.finish();
  const hipError_t error = call.client().advice().prefetch(memory, device);
  Mirror& mirror = call.client().mirror();
  if (error != hipSuccess || device == hipCpuDeviceId || !mirror.any()) return call.finish(error);
  return call.finish(mirror.prefetch(to_raw(pointer), bytes));
}

// Memory of any kind that was allocated by HIP, as in AMD's runtime.
hipError_t hipFree(ApiCall& call, void* pointer) {
  if (pointer == nullptr) return call.finish(hipSuccess);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  client.await_what_shows();
  std::uint64_t address = to_raw(pointer);
  if (auto host = client.host_memory().find(pointer); host && host->owned()) {
    const bool whole = host->base == address && !host->is_variable;
    return call.finish(whole ? client.free_host(*host) : hipErrorInvalidValue);
  }
  if (const auto verdict = client.graphs().library().free_memory(pointer)) return call.finish(*verdict);
  if (client.external_memory().free(pointer)) return call.finish(hipSuccess);
  if (const auto imported = client.shared_memory().close(address, SharedMemory::Way::kPool))
    return call.finish(close_shared(call, imported->base));
  // What an array's struct calls its data is a name, and hipFreeArray()'s to free.
  if (array::is_name(address)) return call.finish(hipErrorInvalidValue);
  return call.finish(client.free_block(address));
}

hipError_t hipHostFree(ApiCall& call, void* pointer) { return custom::hipFree(call, pointer); }

hipError_t hipMemGetInfo(ApiCall& call, size_t* free_bytes, size_t* total_bytes) {
  if (free_bytes == nullptr && total_bytes == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  // The worker would count our leases as used; what the program has allocated is known here.
  std::uint64_t free_now = 0;
  std::uint64_t total = 0;
  if (const hipError_t error = call.client().device_memory().info(call.device(), free_now, total))
    return call.finish(error);
  if (free_bytes != nullptr) *free_bytes = free_now;
  if (total_bytes != nullptr) *total_bytes = total;
  return call.finish(hipSuccess);
}

}  // namespace tf::proxy::custom
