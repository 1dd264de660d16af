// SPDX-License-Identifier: Apache-2.0
// Makes, names and destroys the driver's arrays.
#include "worker/runtime/cuda/arrays.h"

#include <utility>

#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/result.h"

namespace tf::cuda {
namespace {

driver::ArrayDescription describe(const array::Shape& shape, unsigned flags) {
  return {shape.width, shape.height, shape.depth, shape.format, shape.channels, flags};
}

void discard(driver::Array array, driver::MipmappedArray mipmapped) {
  static_cast<void>(mipmapped ? cu().MipmappedArrayDestroy(mipmapped) : cu().ArrayDestroy(array));
}

// As memory that is freed: nothing uses it any more. Calls that wait report failures of earlier work.
hipError_t end(driver::Array array, driver::MipmappedArray mipmapped) {
  static_cast<void>(Runtime::get().synchronize_all());
  return check(mipmapped ? cu().MipmappedArrayDestroy(mipmapped) : cu().ArrayDestroy(array));
}

// The driver's array, or the mipmapped one and its levels.
hipError_t make(const driver::ArrayDescription& wish, unsigned levels, bool mipmapped,
                driver::MipmappedArray& owner, std::vector<driver::Array>& arrays) {
  arrays.resize(levels);
  if (!mipmapped) return check(cu().Array3DCreate(arrays.data(), &wish));
  if (const hipError_t error = check(cu().MipmappedArrayCreate(&owner, &wish, levels))) return error;
  for (unsigned level = 0; level < levels; ++level) {
    const hipError_t error = check(cu().MipmappedArrayGetLevel(&arrays[level], owner, level));
    if (error == hipSuccess) continue;
    discard(nullptr, owner);
    return error;
  }
  return hipSuccess;
}

}  // namespace

hipError_t Arrays::create(const array::Shape& shape, unsigned levels, bool mipmapped,
                          std::vector<array::Place>& places) {
  Owner owner;
  std::vector<driver::Array> made;
  const auto make_as = [&](unsigned flags) {
    return make(describe(shape, flags), levels, mipmapped, owner.mipmapped, made);
  };
  // HIP lets every array without flags be a surface; the driver wants to be told. Textures may be larger than
  // surfaces (MAXIMUM_TEXTURE1D_WIDTH, MAXIMUM_SURFACE1D_WIDTH): then the array is for textures only.
  hipError_t error = make_as(shape.flags == hipArrayDefault ? hipArraySurfaceLoadStore : shape.flags);
  if (error == hipErrorInvalidValue && shape.flags == hipArrayDefault) error = make_as(hipArrayDefault);
  if (error != hipSuccess) return error;
  owner.array = made.front();
  const MutexLock lock(mutex_);
  places = array::lay_out(shape, levels, next_, array::Layout::kGaps);
  const std::uint64_t bytes = array::extent(places);
  if (bytes > array::kNamesEnd - next_) {
    discard(owner.array, owner.mipmapped);
    return hipErrorOutOfMemory;
  }
  next_ += bytes;
  for (unsigned level = 0; level < levels; ++level) {
    levels_[places[level].base] = {made[level], places[level], places.front().base};
    owner.levels.push_back(places[level].base);
  }
  owners_[places.front().base] = std::move(owner);
  return hipSuccess;
}

std::optional<Arrays::Owner> Arrays::release(std::map<std::uint64_t, Owner>::iterator owner) {
  if (--owner->second.users != 0) return std::nullopt;
  Owner last = std::move(owner->second);
  owners_.erase(owner);
  return last;
}

hipError_t Arrays::destroy(std::uint64_t base) {
  std::optional<Owner> owner;
  {
    const MutexLock lock(mutex_);
    const auto found = owners_.find(base);
    if (found == owners_.end() || found->second.destroyed) return hipErrorInvalidValue;
    found->second.destroyed = true;
    for (const std::uint64_t level : found->second.levels) levels_.erase(level);
    owner = release(found);
  }
  return owner ? end(owner->array, owner->mipmapped) : hipSuccess;
}

std::optional<std::uint64_t> Arrays::hold(std::uint64_t level) {
  const MutexLock lock(mutex_);
  const auto found = levels_.find(level);  // levels go when their array is destroyed
  if (found == levels_.end()) return std::nullopt;
  ++owners_.at(found->second.owner).users;
  return found->second.owner;
}

hipError_t Arrays::drop(std::uint64_t owner) {
  std::optional<Owner> last;
  {
    const MutexLock lock(mutex_);
    const auto found = owners_.find(owner);
    if (found == owners_.end()) return hipErrorInvalidValue;
    last = release(found);
  }
  return last ? end(last->array, last->mipmapped) : hipSuccess;
}

std::optional<NamedArray> Arrays::find(std::uint64_t address) const {
  if (!array::is_name(address)) return std::nullopt;
  const MutexLock lock(mutex_);
  auto found = levels_.upper_bound(address);
  if (found == levels_.begin()) return std::nullopt;
  --found;
  if (address - found->second.place.base >= found->second.place.bytes()) return std::nullopt;
  return found->second;
}

driver::MipmappedArray Arrays::mipmapped(std::uint64_t base) const {
  const MutexLock lock(mutex_);
  const auto found = owners_.find(base);
  return found != owners_.end() && !found->second.destroyed ? found->second.mipmapped : nullptr;
}

Arrays& named_arrays() {
  static Arrays* const all = new Arrays;
  return *all;
}

hipError_t Backend::create_array(const array::Shape& shape, unsigned levels, bool mipmapped,
                                 std::vector<array::Place>& places) {
  return named_arrays().create(shape, levels, mipmapped, places);
}

hipError_t Backend::destroy_array(std::uint64_t base) { return named_arrays().destroy(base); }

}  // namespace tf::cuda
