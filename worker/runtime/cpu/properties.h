// SPDX-License-Identifier: Apache-2.0
// The properties and attributes of a CPU device. Pure functions of the machine; any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <optional>

namespace tf::cpu {

// The limit of resident threads per core, from which occupancy is computed.
inline constexpr int kMaxThreadsPerMultiprocessor = 2048;
inline constexpr int kMaxBlocksPerMultiprocessor = 32;
inline constexpr std::size_t kPitchAlignment_bytes = 256;
// Elements of arrays and textures. Those of AMD's GCN devices.
inline constexpr std::size_t kTextureEdgeMax = 16384;  // one and two dimensions
inline constexpr std::size_t kTextureVolumeEdgeMax = 8192;
inline constexpr std::size_t kTextureLayersMax = 8192;
inline constexpr std::size_t kTextureLinearMax = std::size_t{1} << 27;  // in plain memory

// What all devices of the process have in common.
struct DeviceShape {
  int devices = 1;  // with those that the program does not see
  int multiprocessors = 1;
  std::size_t total_bytes = 0;
  bool behind_bus = false;  // they look like cards whose memory the host reaches only by copies
};
inline constexpr int kMultiprocessorsMax = 2048;  // of a device: what masks of compute units can name

hipUUID device_uuid(int number);
hipDeviceProp_t make_properties(int number, const DeviceShape& shape);

// The attribute's value; none if this release does not know or answer it.
std::optional<int> attribute_of(const hipDeviceProp_t& properties, hipDeviceAttribute_t attribute);

}  // namespace tf::cpu
