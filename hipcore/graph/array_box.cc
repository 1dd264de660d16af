// SPDX-License-Identifier: Apache-2.0
// Positions of boxes in arrays.
#include "hipcore/graph/array_box.h"

namespace tf::graph {
namespace {

// Boxes are flattened: rows that stand in different slices of an array may have come as rows of one slice.
bool has_slices_as_rows(const Box& box, const BoxSide& side, const array::Place* place) {
  return place != nullptr && box.depth == 1 && box.height > 1 && side.pitch == place->slice &&
         side.pitch != place->pitch;
}

void restore_slices(Box& box, BoxSide& side, const array::Place* place) {
  side.slice = side.pitch;
  if (place != nullptr) side.pitch = place->pitch;
  box.depth = box.height;
}

bool stands_in(const array::Place& place, const Box& box, const BoxSide& side, array::Position& at) {
  if (side.address < place.base || side.address - place.base >= place.bytes()) return false;
  if ((box.height > 1 && side.pitch != place.pitch) || (box.depth > 1 && side.slice != place.slice))
    return false;
  at = position_of(place, side.address);
  const bool whole = at.x % place.element_bytes == 0 && box.width % place.element_bytes == 0;
  return whole && box.width <= place.row_bytes && at.x <= place.row_bytes - box.width &&
         box.height <= place.rows && at.y <= place.rows - box.height && box.depth <= place.slices &&
         at.z <= place.slices - box.depth;
}

bool has_whole_rows(const Box& box, const BoxSide& side) {
  return box.depth == 1 || (side.pitch != 0 && side.slice % side.pitch == 0);
}

}  // namespace

std::optional<ArrayBox> as_one_copy(Box box, const array::Place* target, const array::Place* source) {
  if (has_slices_as_rows(box, box.target, target) || has_slices_as_rows(box, box.source, source)) {
    restore_slices(box, box.target, target);
    restore_slices(box, box.source, source);
    box.height = 1;
  }
  ArrayBox found{box, {}, {}};
  if (target != nullptr && !stands_in(*target, box, box.target, found.target.emplace())) return std::nullopt;
  if (source != nullptr && !stands_in(*source, box, box.source, found.source.emplace())) return std::nullopt;
  if (target == nullptr && !has_whole_rows(box, box.target)) return std::nullopt;
  if (source == nullptr && !has_whole_rows(box, box.source)) return std::nullopt;
  return found;
}

std::optional<Box> BoxLayers::next() {
  if (at_ == (slices_ ? box_.depth : box_.height)) return std::nullopt;
  Box layer = box_;
  (slices_ ? layer.depth : layer.height) = 1;
  layer.target.address += at_ * (slices_ ? box_.target.slice : box_.target.pitch);
  layer.source.address += at_ * (slices_ ? box_.source.slice : box_.source.pitch);
  ++at_;
  return layer;
}

}  // namespace tf::graph
