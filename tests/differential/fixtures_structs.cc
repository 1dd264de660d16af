// SPDX-License-Identifier: Apache-2.0
// Descriptions of copies, fills, launches, arrays and places.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

Value copy_3d(Case& c) {
  auto* const copy = c.keep<hipMemcpy3DParms>();
  copy->srcPtr = {c.handle<void*>("device_other"), 64, 64, 4};
  copy->dstPtr = {c.handle<void*>("device"), 64, 64, 4};
  copy->extent = {16, 4, 1};
  copy->kind = hipMemcpyDeviceToDevice;
  return pointer(copy);
}
Value fill_of(Case& c, const char* memory, unsigned element_bytes) {
  auto* const fill = c.keep<hipMemsetParams>();
  fill->dst = c.handle<void*>(memory);
  fill->elementSize = element_bytes;
  fill->height = 1;
  fill->width = 16;
  fill->value = 7;
  return pointer(fill);
}
template <unsigned kThreads>
Value launch_node(Case& c) {
  auto* const launch = c.keep<hipKernelNodeParams>();
  launch->func = c.handle<void*>("function");
  launch->gridDim = dim3(1, 1, 1);
  launch->blockDim = dim3(kThreads, 1, 1);
  launch->kernelParams = c.handle<void**>("arguments");
  return pointer(launch);
}
Value host_node(Case& c) {
  auto* const host = c.keep<hipHostNodeParams>();
  host->fn = c.handle<hipHostFn_t>("callback");
  return pointer(host);
}
template <int kType, int kDevice>
Value pool_properties(Case& c) {
  auto* const properties = c.keep<hipMemPoolProps>();
  const int type = kType;
  std::memcpy(&properties->allocType, &type, sizeof type);
  properties->location = {hipMemLocationTypeDevice, kDevice};
  return pointer(properties);
}
template <int kBits>
Value elements(Case& c) {
  auto* const elements = c.keep<hipChannelFormatDesc>();
  elements->x = kBits;
  elements->f = hipChannelFormatKindFloat;
  return pointer(elements);
}
template <int kType, int kDevice>
Value location(Case&) {
  hipMemLocation place{hipMemLocationTypeDevice, kDevice};
  const int type = kType;
  std::memcpy(&place.type, &type, sizeof type);
  return by_value(place);
}
template <int kDevice>
Value location_pointer(Case& c) {
  auto* const location = c.keep<hipMemLocation>();
  *location = {hipMemLocationTypeDevice, kDevice};
  return pointer(location);
}
template <int kDevice>
Value access(Case& c) {
  auto* const access = c.keep<hipMemAccessDesc>();
  access->location = {hipMemLocationTypeDevice, kDevice};
  access->flags = hipMemAccessFlagsProtReadWrite;
  return pointer(access);
}
template <std::size_t kWidth, std::size_t kHeight>
Value extent(Case&) {
  return by_value(hipExtent{kWidth, kHeight, 1});
}
Value pitched(Case& c, const char* memory, std::size_t pitch) {
  return by_value(hipPitchedPtr{c.handle<void*>(memory), pitch, 64, 4});
}

}  // namespace

void add_structs(Fixtures& all) {
  all["copy_3d"] = copy_3d;
  all["fill"] = [](Case& c) { return fill_of(c, "device", 4); };
  all["fill_wide"] = [](Case& c) { return fill_of(c, "device", 3); };
  all["fill_freed"] = [](Case& c) { return fill_of(c, "device_freed", 4); };
  all["fill_null"] = [](Case& c) { return fill_of(c, "null", 4); };
  all["launch_node"] = launch_node<64>;
  all["launch_node_wide"] = launch_node<2048>;
  all["host_node"] = host_node;
  all["pool_properties"] = pool_properties<hipMemAllocationTypePinned, 0>;
  all["pool_properties_odd"] = pool_properties<77, 0>;
  all["pool_properties_nowhere"] = pool_properties<hipMemAllocationTypePinned, 99>;
  all["elements"] = elements<32>;
  all["elements_odd"] = elements<7>;
  all["elements_three"] = [](Case& c) {
    auto* const elements = c.keep<hipChannelFormatDesc>();
    *elements = {32, 32, 32, 0, hipChannelFormatKindFloat};
    return pointer(elements);
  };
  all["location"] = location<1, 0>;
  all["location_nowhere"] = location<1, 99>;
  all["location_host"] = location<kHipMemLocationTypeHost, 0>;
  all["location_odd"] = location<77, 0>;
  all["location_pointer"] = location_pointer<0>;
  all["location_pointer_nowhere"] = location_pointer<99>;
  all["access"] = access<0>;
  all["access_nowhere"] = access<99>;
  all["extent"] = extent<16, 4>;
  all["extent_zero"] = extent<0, 0>;
  all["extent_flat"] = extent<16, 0>;
  all["extent_huge"] = extent<std::size_t{1} << 40, std::size_t{1} << 40>;
  all["pitched"] = [](Case& c) { return pitched(c, "device", 64); };
  all["pitched_null"] = [](Case& c) { return pitched(c, "null", 64); };
  all["pitched_freed"] = [](Case& c) { return pitched(c, "device_freed", 64); };
  all["pitched_narrow"] = [](Case& c) { return pitched(c, "device", 8); };
}

}  // namespace tf::differential
