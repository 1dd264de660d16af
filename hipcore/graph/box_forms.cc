// SPDX-License-Identifier: Apache-2.0
// The three forms of row and box copies that no node of a graph has.
#include "hipcore/graph/box_forms.h"

namespace tf::graph {
namespace {

// An end of the driver-style copies by its address.
hipError_t read_address(const abi::DriverCopyEnd& end, std::uint64_t& address) {
  if (end.type == abi::MemoryType::kArray || end.array) return hipErrorNotSupported;
  if (end.type == abi::MemoryType::kNone) return hipErrorInvalidValue;
  address = address_of(end.type == abi::MemoryType::kHost ? end.host : end.device);
  return address != 0 ? hipSuccess : hipErrorInvalidValue;
}

hipError_t read_end(const abi::DriverCopyEnd& from, const CopyWork& work, BoxSide& end) {
  if (const hipError_t status = read_address(from, end.address)) return status;
  end.pitch = from.pitch ? from.pitch : from.x + work.width;
  end.slice = end.pitch * (from.height ? from.height : work.height);
  return hipSuccess;
}

}  // namespace

hipError_t read_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, CopyWork& work) {
  if (!target || !source) return hipErrorInvalidValue;
  if (width > target_pitch || width > source_pitch) return hipErrorInvalidPitchValue;
  work.target = {address_of(target), target_pitch, target_pitch * height};
  work.source = {address_of(source), source_pitch, source_pitch * height};
  work.width = width;
  work.height = height;
  work.kind = kind;
  return hipSuccess;
}

hipError_t read_parameters(const abi::DriverCopy& p, CopyWork& work) {
  work.width = p.width;
  work.height = p.height;
  work.depth = p.depth;
  if (const hipError_t status = read_end(p.source, work, work.source)) return status;
  if (const hipError_t status = read_end(p.target, work, work.target)) return status;
  const bool fits = move_to({p.source.x, p.source.y, p.source.z}, work, work.source) &&
                    move_to({p.target.x, p.target.y, p.target.z}, work, work.target);
  return fits ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace tf::graph
