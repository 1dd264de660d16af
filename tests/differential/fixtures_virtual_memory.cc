// SPDX-License-Identifier: Apache-2.0
// Physical memory, reserved addresses, and mappings of the one at the other.
#include "hipcore/abi/allocation.h"
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

constexpr std::size_t kVirtualBytes = 0x200000;  // of values.txt

template <int kDevice>
Value allocation_properties(Case& c) {
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  properties.location = {hipMemLocationTypeDevice, kDevice};
  auto* const theirs = c.keep<hipMemAllocationProp>();
  *theirs = abi::allocation_for(static_cast<unsigned>(c.api.major()), properties);
  return pointer(theirs);
}
hipMemGenericAllocationHandle_t new_allocation(Case& c) {
  hipMemGenericAllocationHandle_t allocation = nullptr;
  c.check(c.api("hipMemCreate", &allocation, kVirtualBytes,
                c.handle<const hipMemAllocationProp*>("allocation_properties"), 0ULL),
          "hipMemCreate");
  return allocation;
}
Value reserved(Case& c) {
  void* start = nullptr;
  c.check(
      c.api("hipMemAddressReserve", &start, kVirtualBytes, std::size_t{0}, static_cast<void*>(nullptr), 0ULL),
      "hipMemAddressReserve");
  c.after([&api = c.api, start] { api.quietly("hipMemAddressFree", start, kVirtualBytes); });
  return pointer(start);
}
// At addresses of its own, not those of "reserved".
Value mapped(Case& c) {
  const Value start = reserved(c);
  void* const address = reinterpret_cast<void*>(start.number);
  c.check(c.api("hipMemMap", address, kVirtualBytes, std::size_t{0},
                c.handle<hipMemGenericAllocationHandle_t>("allocation"), 0ULL),
          "hipMemMap");
  c.after([&api = c.api, address] { api.quietly("hipMemUnmap", address, kVirtualBytes); });
  c.check(c.api("hipMemSetAccess", address, kVirtualBytes, c.handle<const hipMemAccessDesc*>("access"),
                std::size_t{1}),
          "hipMemSetAccess");
  return start;
}

}  // namespace

void add_virtual_memory(Fixtures& all) {
  all["allocation_properties"] = allocation_properties<0>;
  all["allocation_properties_nowhere"] = allocation_properties<99>;
  all["allocation"] = [](Case& c) { return ended(c, new_allocation(c), "hipMemRelease"); };
  all["allocation_destroyed"] = [](Case& c) { return gone(c, new_allocation(c), "hipMemRelease"); };
  all["reserved"] = reserved;
  all["mapped"] = mapped;
}

}  // namespace tf::differential
