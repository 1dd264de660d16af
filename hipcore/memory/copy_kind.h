// SPDX-License-Identifier: Apache-2.0
// Whether a copy's direction, as the program gives it, fits the memory at its ends.
//
// AMD's runtime goes by the memory, not by the direction, for copies in one piece. In copies of rows and
// boxes and in nodes of graphs, an end that is called device memory must be memory that HIP knows (ROCm/clr,
// hip_memory.cpp and hip_graph_internal.hpp).
#pragma once

#include "hipcore/newer/hip_types.h"

namespace tf::hipdata {

// Whoever copies, it is the same here.
constexpr bool is_within_devices(hipMemcpyKind kind) {
  return kind == hipMemcpyDeviceToDevice || static_cast<int>(kind) == kHipMemcpyDeviceToDeviceNoCU;
}

constexpr bool is_kind(hipMemcpyKind kind) {
  return (kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) || is_within_devices(kind);
}

constexpr bool names_device_target(hipMemcpyKind kind) {
  return kind == hipMemcpyHostToDevice || is_within_devices(kind);
}
constexpr bool names_device_source(hipMemcpyKind kind) {
  return kind == hipMemcpyDeviceToHost || is_within_devices(kind);
}

// `is_known(address)`: device memory, and host memory that was allocated by HIP, registered or managed. Asked
// only of the ends that the direction calls device memory.
template <typename Address, typename IsKnown>
bool kind_fits(Address target, Address source, hipMemcpyKind kind, IsKnown&& is_known) {
  return (!names_device_target(kind) || is_known(target)) && (!names_device_source(kind) || is_known(source));
}

}  // namespace tf::hipdata
