// SPDX-License-Identifier: Apache-2.0
// Arrays: memory of the device, row by row.
#include "worker/runtime/cpu/arrays.h"

#include <algorithm>

#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/memory.h"
#include "worker/runtime/cpu/properties.h"

namespace tf::cpu {
namespace {

// The limits that the device's properties name.
bool within_limits(const array::Shape& shape) {
  if (shape.height == 0) return shape.width <= kTextureEdgeMax && shape.depth <= kTextureLayersMax;
  if (shape.is_layered() || shape.is_cubemap())
    return std::max(shape.width, shape.height) <= kTextureEdgeMax && shape.depth <= kTextureLayersMax;
  if (shape.depth == 0) return std::max(shape.width, shape.height) <= kTextureEdgeMax;
  return std::max({shape.width, shape.height, shape.depth}) <= kTextureVolumeEdgeMax;
}

}  // namespace

void ArrayMemory::add(std::uint64_t base, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  uses_[base] = {bytes, 1};
}

std::map<std::uint64_t, ArrayMemory::Use>::iterator ArrayMemory::find(std::uint64_t address) {
  auto found = uses_.upper_bound(address);
  if (found == uses_.begin()) return uses_.end();
  --found;
  return address - found->first < found->second.bytes ? found : uses_.end();
}

bool ArrayMemory::hold(std::uint64_t address) {
  const MutexLock lock(mutex_);
  const auto found = find(address);
  if (found == uses_.end()) return false;
  ++found->second.users;
  return true;
}

hipError_t ArrayMemory::drop(std::uint64_t address) {
  std::uint64_t base = 0;
  {
    const MutexLock lock(mutex_);
    const auto found = find(address);
    if (found == uses_.end()) return hipErrorInvalidValue;
    if (--found->second.users != 0) return hipSuccess;
    base = found->first;
    uses_.erase(found);
  }
  return release(reinterpret_cast<void*>(base));
}

ArrayMemory& array_memory() {
  static ArrayMemory* const all = new ArrayMemory;
  return *all;
}

hipError_t Backend::create_array(const array::Shape& shape, unsigned levels, bool,
                                 std::vector<array::Place>& places) {
  if (!within_limits(shape)) return hipErrorInvalidValue;
  places = array::lay_out(shape, levels, 0, array::Layout::kDense);
  void* memory = nullptr;
  if (const hipError_t status = allocate(memory, array::extent(places), hipDeviceMallocDefault))
    return status;
  const std::uint64_t bytes = array::extent(places);
  for (array::Place& place : places) place.base += address_of(memory);
  array_memory().add(places.front().base, bytes);
  return hipSuccess;
}

hipError_t Backend::destroy_array(std::uint64_t base) { return array_memory().drop(base); }

}  // namespace tf::cpu
