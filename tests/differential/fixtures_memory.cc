// SPDX-License-Identifier: Apache-2.0
// Memory of devices and of this process, arrays.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

constexpr std::size_t kBytes = 4096;  // of each piece

void* allocated(Case& c) {
  void* memory = nullptr;
  c.check(c.api("hipMalloc", &memory, kBytes), "hipMalloc");
  return memory;
}
Value device(Case& c) {
  void* const memory = allocated(c);
  c.after([&api = c.api, memory] { api.quietly("hipFree", memory); });
  return pointer(memory);
}
Value device_freed(Case& c) {
  void* const memory = allocated(c);
  c.check(c.api("hipFree", memory), "hipFree");
  return pointer(memory);
}
// Behind an allocation whose last page nobody else gets.
Value device_end(Case& c) {
  constexpr std::size_t kShort = kBytes - 96;
  void* memory = nullptr;
  c.check(c.api("hipMalloc", &memory, kShort), "hipMalloc");
  c.after([&api = c.api, memory] { api.quietly("hipFree", memory); });
  return pointer(static_cast<std::byte*>(memory) + kShort);
}
template <std::ptrdiff_t kOffset>
Value inside(Case& c) {
  return pointer(c.handle<std::byte*>("device") + kOffset);
}
Value pooled(Case& c) {
  void* memory = nullptr;
  c.check(c.api("hipMallocAsync", &memory, kBytes, hipStream_t{}), "hipMallocAsync");
  c.check(c.api("hipStreamSynchronize", hipStream_t{}), "hipStreamSynchronize");
  c.after([&api = c.api, memory] { api.quietly("hipFree", memory); });
  return pointer(memory);
}
void* host_allocated(Case& c) {
  void* memory = nullptr;
  c.check(c.api("hipHostMalloc", &memory, kBytes, 0U), "hipHostMalloc");
  return memory;
}
Value pinned(Case& c) {
  void* const memory = host_allocated(c);
  c.after([&api = c.api, memory] { api.quietly("hipHostFree", memory); });
  return pointer(memory);
}
Value pinned_freed(Case& c) {
  void* const memory = host_allocated(c);
  c.check(c.api("hipHostFree", memory), "hipHostFree");
  return pointer(memory);
}
Value managed(Case& c) {
  void* memory = nullptr;
  c.check(c.api("hipMallocManaged", &memory, kBytes, 1U), "hipMallocManaged");
  c.after([&api = c.api, memory] { api.quietly("hipFree", memory); });
  return pointer(memory);
}
std::byte* whole_page(Case& c) {
  const auto start = reinterpret_cast<std::uintptr_t>(c.block(2 * kBytes));
  return reinterpret_cast<std::byte*>((start + kBytes - 1) / kBytes * kBytes);
}
Value page(Case& c) {
  std::byte* const start = whole_page(c);
  c.after([&api = c.api, start] { api.quietly("hipHostUnregister", static_cast<void*>(start)); });
  return pointer(start);
}
Value registered(Case& c) {
  const Value start = page(c);
  c.check(c.api("hipHostRegister", reinterpret_cast<void*>(start.number), kBytes, 0U), "hipHostRegister");
  return start;
}
Value registered_not(Case& c) {
  void* const start = whole_page(c);
  c.check(c.api("hipHostRegister", start, kBytes, 0U), "hipHostRegister");
  c.check(c.api("hipHostUnregister", start), "hipHostUnregister");
  return pointer(start);
}
hipArray* new_array(Case& c) {
  hipArray* array = nullptr;
  c.check(c.api("hipMallocArray", &array, c.handle<const hipChannelFormatDesc*>("elements"), std::size_t{16},
                std::size_t{4}, 0U),
          "hipMallocArray");
  return array;
}
Value array(Case& c) {
  hipArray* const array = new_array(c);
  c.after([&api = c.api, array] { api.quietly("hipFreeArray", array); });
  return pointer(array);
}
Value array_destroyed(Case& c) {
  hipArray* const array = new_array(c);
  c.check(c.api("hipFreeArray", array), "hipFreeArray");
  return pointer(array);
}
template <std::size_t kFirst>
Value words(Case& c) {
  auto* const words = static_cast<std::size_t*>(c.block(kBytes));
  words[0] = kFirst;
  return pointer(words);
}

}  // namespace

void add_memory(Fixtures& all) {
  all["device"] = device;
  all["device_other"] = device;
  all["device_freed"] = device_freed;
  all["device_inside"] = inside<256>;
  all["device_odd"] = inside<1>;
  all["device_end"] = device_end;
  all["device_pooled"] = pooled;
  all["host"] = [](Case& c) { return pointer(c.block(kBytes)); };
  all["zeros"] = [](Case& c) { return pointer(c.block(kBytes)); };
  all["pinned"] = pinned;
  all["pinned_freed"] = pinned_freed;
  all["pinned_inside"] = [](Case& c) { return pointer(c.handle<std::byte*>("pinned") + 256); };
  all["managed"] = managed;
  all["page"] = page;
  all["registered"] = registered;
  all["registered_not"] = registered_not;
  all["array"] = array;
  all["array_other"] = array;
  all["array_destroyed"] = array_destroyed;
  all["words"] = words<0>;
  all["words_2"] = words<2>;
  all["words_3"] = words<3>;
  all["words_4"] = words<4>;
  all["words_9"] = words<9>;
}

}  // namespace tf::differential
