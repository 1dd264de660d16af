// SPDX-License-Identifier: Apache-2.0
// The three forms of row and box copies that no node of a graph has.
#include "hipcore/graph/box_forms.h"

namespace tf::graph {
namespace {

// An end of the driver-style copies by its address.
hipError_t read_address(hipMemoryType type, const void* host, const void* device, const void* array,
                        std::uint64_t& address) {
  if (type == hipMemoryTypeArray || array) return hipErrorNotSupported;
  if (type != hipMemoryTypeHost && type != hipMemoryTypeDevice && type != hipMemoryTypeUnified)
    return hipErrorInvalidValue;
  address = address_of(type == hipMemoryTypeHost ? host : device);
  return address != 0 ? hipSuccess : hipErrorInvalidValue;
}

// What the driver-style copies of rows and of boxes have in common. The positions, and the rows of a slice,
// at both ends.
template <typename Parameters>
hipError_t read_ends(const Parameters& p, const BoxPosition& source, std::size_t source_rows,
                     const BoxPosition& target, std::size_t target_rows, CopyWork& work) {
  hipError_t status = read_address(p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, work.source.address);
  if (status != hipSuccess) return status;
  status = read_address(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, work.target.address);
  if (status != hipSuccess) return status;
  work.width = p.WidthInBytes;
  work.height = p.Height;
  work.source.pitch = p.srcPitch ? p.srcPitch : source.x + work.width;
  work.target.pitch = p.dstPitch ? p.dstPitch : target.x + work.width;
  work.source.slice = work.source.pitch * source_rows;
  work.target.slice = work.target.pitch * target_rows;
  const bool fits = move_to(source, work, work.source) && move_to(target, work, work.target);
  return fits ? hipSuccess : hipErrorInvalidValue;
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

hipError_t read_parameters(const hip_Memcpy2D& p, CopyWork& work) {
  return read_ends(p, {p.srcXInBytes, p.srcY, 0}, p.Height, {p.dstXInBytes, p.dstY, 0}, p.Height, work);
}

hipError_t read_parameters(const HIP_MEMCPY3D& p, CopyWork& work) {
  work.depth = p.Depth;
  return read_ends(p, {p.srcXInBytes, p.srcY, p.srcZ}, p.srcHeight ? p.srcHeight : p.Height,
                   {p.dstXInBytes, p.dstY, p.dstZ}, p.dstHeight ? p.dstHeight : p.Height, work);
}

}  // namespace tf::graph
