// SPDX-License-Identifier: Apache-2.0
// Makes and destroys the runtime's arrays.
#include "worker/memory/arrays.h"

#include <limits>
#include <utility>

namespace tf::worker {
namespace {

array::Shape shape_of(const protocol::CreateArrayRequest& request) {
  return {static_cast<std::size_t>(request.width),
          static_cast<std::size_t>(request.height),
          static_cast<std::size_t>(request.depth),
          static_cast<hipArray_Format>(request.format),
          request.channels,
          request.flags};
}

}  // namespace

hipError_t Arrays::make(const protocol::CreateArrayRequest& request, Owner& owner) {
  const array::Shape shape = shape_of(request);
  HIP_ARRAY3D_DESCRIPTOR wish{shape.width,  shape.height,   shape.depth,
                              shape.format, shape.channels, shape.flags};
  if (request.mipmapped == 0) {
    const hipError_t error = hip_.hipArray3DCreate(&owner.array, &wish);
    owner.levels.front().array = owner.array;
    return error;
  }
  hipError_t error = hip_.hipMipmappedArrayCreate(&owner.mipmapped, &wish, request.levels);
  if (error != hipSuccess) return error;
  for (unsigned level = 0; level < request.levels && error == hipSuccess; ++level)
    error = hip_.hipMipmappedArrayGetLevel(&owner.levels[level].array, owner.mipmapped, level);
  if (error != hipSuccess) own_calls_.pass_on(hip_.hipMipmappedArrayDestroy(owner.mipmapped));
  return error;
}

hipError_t Arrays::drop(const Owner& owner) {
  return owner.mipmapped != nullptr ? hip_.hipMipmappedArrayDestroy(owner.mipmapped)
                                    : hip_.hipArrayDestroy(owner.array);
}

bool Arrays::has_edges(const array::Shape& shape, int device) {
  const auto limit = [this, device](hipDeviceAttribute_t attribute) {
    int edge = 0;
    const hipError_t answer = own_calls_.keep(hip_.hipDeviceGetAttribute(&edge, attribute, device));
    const bool known = answer == hipSuccess && edge > 0;
    return known ? static_cast<std::size_t>(edge) : std::numeric_limits<std::size_t>::max();
  };
  if (shape.height == 0) return shape.width <= limit(hipDeviceAttributeMaxTexture1DWidth);
  if (shape.depth == 0 || shape.is_layered() || shape.is_cubemap())
    return shape.width <= limit(hipDeviceAttributeMaxTexture2DWidth) &&
           shape.height <= limit(hipDeviceAttributeMaxTexture2DHeight);
  return shape.width <= limit(hipDeviceAttributeMaxTexture3DWidth) &&
         shape.height <= limit(hipDeviceAttributeMaxTexture3DHeight) &&
         shape.depth <= limit(hipDeviceAttributeMaxTexture3DDepth);
}

hipError_t Arrays::create(const protocol::CreateArrayRequest& request, int device) {
  const array::Shape shape = shape_of(request);
  if (array::check(shape) != hipSuccess || request.levels == 0 || request.mipmapped > 1)
    return hipErrorInvalidValue;
  if (request.levels > (request.mipmapped != 0 ? array::levels_max(shape) : 1)) return hipErrorInvalidValue;
  if (levels_.size() + request.levels > kSessionArraysMax) return hipErrorOutOfMemory;
  const auto places = array::lay_out(shape, request.levels, request.base, array::Layout::kGaps);
  Owner owner;
  owner.device = device;
  const std::uint64_t names = array::extent(places);
  if (!array::is_name(request.base) || names > array::kNamesEnd - request.base) return hipErrorInvalidValue;
  const auto next = levels_.lower_bound(request.base);
  if ((next != levels_.end() && next->first - request.base < names) || find(request.base) != nullptr)
    return hipErrorInvalidValue;
  for (const array::Place& place : places) owner.levels.push_back({nullptr, place, request.base});
  const std::uint64_t bytes = array::memory_bytes(shape, request.levels);
  if (!quota_.take(device, bytes))
    return has_edges(shape, device) ? hipErrorOutOfMemory : hipErrorInvalidValue;
  owner.share = std::make_shared<QuotaShare>(quota_, device, bytes);
  if (const hipError_t error = make(request, owner); error != hipSuccess) return error;
  for (const SessionArray& level : owner.levels) levels_.emplace(level.place.base, level);
  owners_.emplace(request.base, std::move(owner));
  return hipSuccess;
}

int Arrays::device_of(std::uint64_t base) const {
  const auto found = owners_.find(base);
  return found != owners_.end() ? found->second.device : -1;
}

hipError_t Arrays::destroy(std::uint64_t base) {
  const auto found = owners_.find(base);
  if (found == owners_.end()) return hipErrorInvalidValue;
  const Owner owner = std::move(found->second);
  owners_.erase(found);
  for (const SessionArray& level : owner.levels) levels_.erase(level.place.base);
  return drop(owner);
}

void Arrays::release(CurrentDevice& device) {
  for (const auto& [base, owner] : owners_) {
    own_calls_.pass_on(device.use(owner.device));
    own_calls_.pass_on(drop(owner));
  }
  owners_.clear();
  levels_.clear();
}

const SessionArray* Arrays::find(std::uint64_t address) const {
  if (!array::is_name(address)) return nullptr;
  auto found = levels_.upper_bound(address);
  if (found == levels_.begin()) return nullptr;
  --found;
  const array::Place& place = found->second.place;
  return address - place.base < place.bytes() ? &found->second : nullptr;
}

std::shared_ptr<const QuotaShare> Arrays::share_of(std::uint64_t base) const {
  const auto found = owners_.find(base);
  return found != owners_.end() ? found->second.share : nullptr;
}

hipMipmappedArray_t Arrays::mipmapped(std::uint64_t base) const {
  const auto found = owners_.find(base);
  return found != owners_.end() ? found->second.mipmapped : nullptr;
}

}  // namespace tf::worker
