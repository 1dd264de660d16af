// SPDX-License-Identifier: Apache-2.0
// Advice on memory. The driver keeps it, and answers queries. It knows nothing of coarse-grained memory: what
// a program says about that is kept here, and returned. All managed memory is coherent.
#include <cstring>
#include <optional>

#include "worker/runtime/common/capture.h"
#include "worker/runtime/cuda/backend.h"

namespace tf::cuda {
namespace {

bool is_place(int device) { return device == hipCpuDeviceId || Runtime::get().valid_device(device); }

// Where the driver ignores the device, any number may be given.
driver::Device place(int device) {
  return Runtime::get().valid_device(device) ? Runtime::get().device(device).handle : hipCpuDeviceId;
}

// HIP's ordinal of a place that the driver names.
int ordinal_of(driver::Device place) {
  if (place == hipCpuDeviceId) return hipCpuDeviceId;
  for (int ordinal = 0; ordinal < Runtime::get().device_count(); ++ordinal)
    if (Runtime::get().device(ordinal).handle == place) return ordinal;
  return hipInvalidDeviceId;
}

template <typename Value>
bool ask(const void* pointer, int attribute, Value& value) {
  return cu().PointerGetAttribute(&value, attribute, const_cast<void*>(pointer)) == driver::Result::SUCCESS;
}

// The advice on memory of the device that owns this memory.
hipcore::MemoryAdvice& advice_of(const void* pointer) {
  Runtime& runtime = Runtime::get();
  int device = 0;
  const bool known = ask(pointer, driver::kPointerDeviceOrdinal, device) && runtime.valid_device(device);
  return runtime.device(known ? device : 0).advice;
}

// Nothing: neither we nor the driver know the memory.
std::optional<hipcore::AdvisedMemory> memory_at(const void* pointer, std::size_t bytes) {
  if (const auto host = Runtime::get().host_memory.advised(pointer, bytes)) return host;
  unsigned type = 0;
  unsigned managed = 0;
  void* base = nullptr;
  std::size_t all_bytes = 0;
  const bool known = pointer != nullptr && ask(pointer, driver::kPointerMemoryType, type) &&
                     ask(pointer, driver::kPointerIsManaged, managed) &&
                     ask(pointer, driver::kPointerRangeStart, base) &&
                     ask(pointer, driver::kPointerRangeBytes, all_bytes);
  if (!known) return std::nullopt;
  hipcore::AdvisedMemory memory;
  memory.range = {graph::address_of(base), all_bytes, graph::address_of(pointer), bytes};
  memory.managed = managed != 0;
  const bool coherent = memory.managed || type == driver::kMemoryHost;
  memory.coherency = coherent ? hipMemRangeCoherencyModeFineGrain : hipMemRangeCoherencyModeCoarseGrain;
  return memory;
}

// HIP's numbers of the attributes are the driver's.
hipError_t get_from_driver(void* data, std::size_t data_bytes, hipMemRangeAttribute attribute,
                           const void* pointer, std::size_t bytes) {
  const hipError_t status =
      check(cu().MemRangeGetAttribute(data, data_bytes, attribute, const_cast<void*>(pointer), bytes));
  if (status != hipSuccess || attribute == hipMemRangeAttributeReadMostly) return status;
  auto* const places = static_cast<char*>(data);
  for (std::size_t at = 0; at < data_bytes; at += sizeof(int)) {
    driver::Device place = 0;
    std::memcpy(&place, places + at, sizeof place);
    const int ordinal = ordinal_of(place);
    std::memcpy(places + at, &ordinal, sizeof ordinal);
  }
  return hipSuccess;
}

}  // namespace

hipError_t Backend::prefetch(const void* pointer, std::size_t bytes, int device, Stream stream) {
  if (!pointer || bytes == 0) return hipErrorInvalidValue;
  if (!is_place(device)) return hipErrorInvalidDevice;
  if (const hipError_t refused = runtime::refuse_captured(stream)) return refused;
  return check(cu().MemPrefetchAsync(const_cast<void*>(pointer), bytes, place(device), stream));
}

hipError_t Backend::advise(const void* pointer, std::size_t bytes, hipMemoryAdvise advice, int device) {
  Runtime& runtime = Runtime::get();
  if (advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain)
    return advice_of(pointer).advise(memory_at(pointer, bytes), advice, device, runtime.device_count());
  if (hipcore::names_device(advice) && !is_place(device)) return hipErrorInvalidDevice;
  if (!pointer || bytes == 0) return hipErrorInvalidValue;
  if (advice < hipMemAdviseSetReadMostly || advice > hipMemAdviseUnsetAccessedBy) return hipErrorInvalidValue;
  return check(cu().MemAdvise(const_cast<void*>(pointer), bytes, advice, place(device)));
}

hipError_t Backend::range_attribute(void* data, std::size_t data_bytes, hipMemRangeAttribute attribute,
                                    const void* pointer, std::size_t bytes) {
  if (!data || !pointer || bytes == 0 || !hipcore::takes_attribute(attribute, data_bytes))
    return hipErrorInvalidValue;
  if (attribute == hipMemRangeAttributeCoherencyMode)
    return advice_of(pointer).get(memory_at(pointer, bytes), attribute, data, data_bytes);
  return get_from_driver(data, data_bytes, attribute, pointer, bytes);
}

// Only for managed memory, as in AMD's runtime: of other memory this does not return even the coherency.
hipError_t Backend::range_attributes(void** data, std::size_t* data_bytes, hipMemRangeAttribute* attributes,
                                     std::size_t count, const void* pointer, std::size_t bytes) {
  if (!hipcore::takes_attributes(data, data_bytes, attributes, count)) return hipErrorInvalidValue;
  const auto memory = memory_at(pointer, bytes);
  if (!memory || !memory->managed) return hipErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i)
    if (const hipError_t status = range_attribute(data[i], data_bytes[i], attributes[i], pointer, bytes))
      return status;
  return hipSuccess;
}

}  // namespace tf::cuda
