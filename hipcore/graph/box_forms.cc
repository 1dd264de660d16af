// SPDX-License-Identifier: Apache-2.0
// The forms of row and box copies that no node of a graph has.
#include "hipcore/graph/box_forms.h"

#include <algorithm>

namespace tf::graph {
namespace {

// One end of a driver-style copy.
hipError_t read_end(const abi::DriverCopyEnd& from, const array::Finder& arrays, const CopyWork& work,
                    BoxSide& end) {
  if (from.type == abi::MemoryType::kArray) {
    const auto place = arrays.find(from.array);
    return place ? stand_in(*place, {from.x, from.y, from.z}, work, end) : hipErrorInvalidValue;
  }
  if (from.type == abi::MemoryType::kNone) return hipErrorInvalidValue;
  end.address = address_of(from.type == abi::MemoryType::kHost ? from.host : from.device);
  if (end.address == 0) return hipErrorInvalidValue;
  end.pitch = from.pitch ? from.pitch : from.x + work.width;
  end.slice = end.pitch * (from.height ? from.height : work.height);
  return move_to({from.x, from.y, from.z}, work, end) ? hipSuccess : hipErrorInvalidValue;
}

// Sets both ends of a copy between an array and memory.
hipError_t read_array_box(const array::Place& place, bool to_array, const BoxPosition& at, const void* memory,
                          std::size_t pitch, CopyWork& work) {
  BoxSide& inside = to_array ? work.target : work.source;
  BoxSide& outside = to_array ? work.source : work.target;
  if (!may_be_array(to_array, work.kind)) return hipErrorInvalidValue;
  outside = {address_of(memory), pitch, pitch * work.height};
  return stand_in(place, at, work, inside);
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

hipError_t read_parameters(const abi::DriverCopy& p, const array::Finder& arrays, CopyWork& work) {
  work.width = p.width;
  work.height = p.height;
  work.depth = p.depth;
  const hipError_t status = read_end(p.source, arrays, work, work.source);
  return status != hipSuccess ? status : read_end(p.target, arrays, work, work.target);
}

hipError_t read_array_rows(const ArrayRows& rows, const array::Finder& arrays, CopyWork& work) {
  const auto place = arrays.find(rows.array);
  if (rows.memory == nullptr) return hipErrorInvalidValue;
  if (rows.pitch == 0 || rows.pitch < rows.width) return hipErrorInvalidPitchValue;
  if (!place) return hipErrorInvalidHandle;
  work.width = rows.width;
  work.height = rows.height;
  work.kind = rows.kind;
  return read_array_box(*place, rows.to_array, {rows.x, rows.y, 0}, rows.memory, rows.pitch, work);
}

hipError_t read_array_bytes(const ArrayBytes& bytes, const array::Finder& arrays,
                            std::vector<CopyWork>& works) {
  const auto place = arrays.find(bytes.array);
  if (!place || bytes.memory == nullptr || bytes.x > place->row_bytes) return hipErrorInvalidValue;
  std::size_t left = bytes.bytes;
  BoxPosition at{bytes.x, bytes.y, 0};
  const auto* memory = static_cast<const std::byte*>(bytes.memory);
  while (left != 0) {
    CopyWork work;
    work.kind = bytes.kind;
    const std::size_t in_row = place->row_bytes - at.x;
    work.width = std::min(left, in_row);
    if (at.x == 0 && left >= place->row_bytes) work.height = left / place->row_bytes;
    const hipError_t status = read_array_box(*place, bytes.to_array, at, memory, work.width, work);
    if (status != hipSuccess) return status;
    if (work.width != 0) works.push_back(work);
    left -= work.bytes();
    memory += work.bytes();
    at = {0, at.y + work.height, 0};
  }
  return hipSuccess;
}

}  // namespace tf::graph
