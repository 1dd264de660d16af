// SPDX-License-Identifier: Apache-2.0
// Advice on memory. One memory serves all devices, so nothing has to move; advice is stored and returned.
#include <cstdint>
#include <optional>

#include "hipcore/memory/mapped.h"
#include "worker/runtime/cpu/backend.h"

namespace tf::cpu {
namespace {

hipMemRangeCoherencyMode coherency_of(const Allocation& allocation) {
  switch (allocation.kind) {
    case MemoryKind::kManaged: return hipMemRangeCoherencyModeFineGrain;
    case MemoryKind::kHost: return hipcore::coherency_of_host(allocation.flags);
    case MemoryKind::kRegistered: return hipcore::coherency_of_registered(allocation.flags);
    case MemoryKind::kDevice: return hipcore::coherency_of_device(allocation.flags);
    default: return hipMemRangeCoherencyModeCoarseGrain;
  }
}

// The program's own memory, in whole pages (hipDeviceAttributePageableMemoryAccess): kernels reach it as they
// reach managed memory, so the same can be said of it. Nothing: it is not mapped.
std::optional<hipcore::AdvisedMemory> pageable_at(const void* pointer, std::size_t bytes) {
  constexpr std::uint64_t kPage = hipcore::kAdvisedPageBytes;
  const std::uint64_t address = address_of(pointer);
  std::uint64_t end = 0;
  if (bytes == 0 || __builtin_add_overflow(address, bytes, &end) || end > UINT64_MAX - kPage)
    return std::nullopt;
  if (!hipcore::is_mapped(pointer, bytes)) return std::nullopt;
  const std::uint64_t first = address / kPage * kPage;
  end = (end + kPage - 1) / kPage * kPage;
  return hipcore::AdvisedMemory{
      {first, end - first, address, bytes}, hipMemRangeCoherencyModeFineGrain, true};
}

std::optional<hipcore::AdvisedMemory> memory_at(const void* pointer, std::size_t bytes) {
  const auto allocation = Runtime::get().memory.find(pointer);
  if (!allocation) return pageable_at(pointer, bytes);
  return hipcore::AdvisedMemory{{allocation->base, allocation->bytes, address_of(pointer), bytes},
                                coherency_of(*allocation),
                                allocation->kind == MemoryKind::kManaged};
}

}  // namespace

hipError_t Backend::prefetch(const void* pointer, std::size_t bytes, int device, const Stream&) {
  Runtime& runtime = Runtime::get();
  const auto memory = memory_at(pointer, bytes);
  if (!memory || !memory->managed || !memory->range.is_sound()) return hipErrorInvalidValue;
  if (device != hipCpuDeviceId && !runtime.valid_device(device)) return hipErrorInvalidDevice;
  return runtime.advice.prefetch(memory, device);
}

hipError_t Backend::advise(const void* pointer, std::size_t bytes, hipMemoryAdvise advice, int device) {
  return Runtime::get().advice.advise(memory_at(pointer, bytes), advice, device, device_count());
}

hipError_t Backend::range_attribute(void* data, std::size_t data_bytes, hipMemRangeAttribute attribute,
                                    const void* pointer, std::size_t bytes) {
  return Runtime::get().advice.get(memory_at(pointer, bytes), attribute, data, data_bytes);
}

hipError_t Backend::range_attributes(void** data, std::size_t* data_bytes, hipMemRangeAttribute* attributes,
                                     std::size_t count, const void* pointer, std::size_t bytes) {
  return Runtime::get().advice.get(memory_at(pointer, bytes), attributes, data, data_bytes, count);
}

}  // namespace tf::cpu
