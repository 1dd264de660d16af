// SPDX-License-Identifier: Apache-2.0
// Turns boxes between addresses into copies of the runtime's arrays.
#include "worker/copy/array_copies.h"

#include <algorithm>

#include "hipcore/graph/array_box.h"

namespace tf::worker {
namespace {

hipPos position_of(const array::Position& at, const array::Place& place) {
  return {at.x / place.element_bytes, at.y, at.z};
}

}  // namespace

hipPitchedPtr pointer_of(const graph::Box& box, const graph::BoxSide& side) {
  hipPitchedPtr place{};
  place.ptr = side.memory();
  place.pitch = std::max(side.pitch, box.width);
  place.xsize = box.width;
  place.ysize = box.depth > 1 ? side.slice / side.pitch : box.height;
  return place;
}

bool stands_in_array(const Arrays& arrays, const graph::Box& box, const graph::BoxSide& side) {
  const SessionArray* const found = arrays.find(side.address);
  if (found == nullptr) return false;
  const array::Place& place = found->place;
  graph::Box alone = box;
  alone.target = alone.source = side;
  if (box.is_empty()) return true;
  return is_valid(alone) && graph::extent(box, side) <= place.base + place.bytes() - side.address;
}

bool read_array_copy(const Arrays& arrays, const graph::Box& box, hipMemcpyKind kind,
                     hipMemcpy3DParms& parameters) {
  const SessionArray* const target = arrays.find(box.target.address);
  const SessionArray* const source = arrays.find(box.source.address);
  const auto one = as_one_copy(box, target ? &target->place : nullptr, source ? &source->place : nullptr);
  if (!one) return false;
  parameters = {};
  std::uint64_t unit = 1;
  if (target != nullptr) {
    parameters.dstArray = target->array;
    parameters.dstPos = position_of(*one->target, target->place);
    unit = target->place.element_bytes;
  } else {
    parameters.dstPtr = pointer_of(one->box, one->box.target);
  }
  if (source != nullptr) {
    parameters.srcArray = source->array;
    parameters.srcPos = position_of(*one->source, source->place);
    unit = source->place.element_bytes;
  } else {
    parameters.srcPtr = pointer_of(one->box, one->box.source);
  }
  parameters.extent = {one->box.width / unit, one->box.height, one->box.depth};
  parameters.kind = kind;
  return true;
}

hipError_t copy_array_in_stream(const protocol::HipTable& hip, Life& life, const Arrays& arrays,
                                const graph::Box& box, hipMemcpyKind kind, hipStream_t stream) {
  hipMemcpy3DParms parameters{};
  if (read_array_copy(arrays, box, kind, parameters)) return hip.hipMemcpy3DAsync(&parameters, stream);
  if (box.is_line()) return hipErrorInvalidValue;
  hipError_t error = hipSuccess;
  graph::BoxLayers layers(box);
  for (auto layer = layers.next(); layer && error == hipSuccess; layer = layers.next()) {
    if (life.ending()) return hipErrorUnknown;  // there may be many
    error = copy_array_in_stream(hip, life, arrays, *layer, kind, stream);
  }
  return error;
}

}  // namespace tf::worker
